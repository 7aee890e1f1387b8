import { z } from 'zod'

const PHONE = '[1-9][0-9]{7,14}'
const USER_ID = '[A-Z]{2}\\.(?:ENT\\.)?[0-9A-Za-z]{1,128}'

/** E.164 without the plus sign. */
export const phone = z
  .string()
  .regex(new RegExp(`^${PHONE}$`), 'must be 8 to 15 digits, the first not 0')
  .meta({ examples: ['5511987654321'] })

/** A phone number, or the platform's user id where the platform hides the number (decisions §7). */
export const recipient = z
  .string()
  .regex(new RegExp(`^(?:${PHONE}|${USER_ID})$`), 'must be 8 to 15 digits (the first not 0) or a platform user id')
  .describe('Phone number in E.164 form without the plus sign, or a user id of the platform.')
  .meta({ examples: ['5511987654321'] })

const IS_PHONE = new RegExp(`^${PHONE}$`)
export const isPhone = (value: string): boolean => IS_PHONE.test(value)
