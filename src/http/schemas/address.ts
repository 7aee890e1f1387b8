import { z } from 'zod'

const PHONE = '[1-9][0-9]{7,14}'
const USER_ID = '[A-Z]{2}\\.(?:ENT\\.)?[0-9A-Za-z]{1,128}'

/** Of unofficial numbers: somebody whose phone number nobody could tell. */
const HIDDEN_ID = '[1-9][0-9]{0,19}@lid'

/** E.164 without the plus sign. */
export const phone = z
  .string()
  .regex(new RegExp(`^${PHONE}$`), 'must be 8 to 15 digits, the first not 0')
  .meta({ examples: ['5511987654321'] })

/** A phone number, or what `from` gave in its place where the number is hidden (decisions §7). */
export const recipient = z
  .string()
  .regex(
    new RegExp(`^(?:${PHONE}|${USER_ID}|${HIDDEN_ID})$`),
    'must be 8 to 15 digits (the first not 0), a platform user id, or a hidden id'
  )
  .describe(
    'Phone number in E.164 form without the plus sign. Where the platform hides the number, what `from` gave in its ' +
      'place: a user id (`BR.1349…`) of the official platform, or a hidden id (`123456789012345@lid`), which unofficial ' +
      'numbers only can write to. Once two of these are known to be one person, any of them stands for that person.'
  )
  .meta({ examples: ['5511987654321'] })

const IS_PHONE = new RegExp(`^${PHONE}$`)
export const isPhone = (value: string): boolean => IS_PHONE.test(value)
