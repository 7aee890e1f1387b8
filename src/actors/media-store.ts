/**
 * The folder of received media: `<tenant>/<contact>/<message>.media`, so that all of one contact is removed at once.
 * `.want` marks a medium that is still to be fetched, `.part` is one being written. No name holds personal data.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, opendir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isId } from '../domain/ids.ts'
import { type Opened, openMediaFile, writeMediaFile } from './media-file.ts'

export type MediaPlace = { readonly tenantId: string; readonly contactId: string; readonly messageId: string }
export type MediaStore = {
  /** Marks it as wanted: a process that starts later finds it in the list of `sweep`. */
  want(place: MediaPlace): Promise<void>
  unwant(place: MediaPlace): Promise<void>
  /** Resolves with the size when it is on the disk under its name. Rejects as `writeMediaFile` does, leaving nothing behind. */
  keep(
    place: MediaPlace,
    contactKey: Buffer,
    type: string,
    created: string,
    body: AsyncIterable<Buffer>
  ): Promise<number>
  open(place: MediaPlace, contactKey: Buffer): Promise<Opened>
  discard(place: MediaPlace): Promise<void>
  /** Everything of one contact. */
  remove(tenantId: string, contactId: string): Promise<void>
  /** Removes what is older than its time at `now` (milliseconds); resolves with what is still wanted. */
  sweep(now: number): Promise<readonly MediaPlace[]>
}

/** What a process that died left half written or unfetched is of no use after this: the instance has forgotten the file. */
const UNFINISHED_MS_MAX = 3_600_000
const MODE = 0o700
/** A fetch that is just ending may put a file into a folder that is being removed. */
const REMOVE_TRIES = 3

export function createMediaStore(directory: string, retentionMs: number): MediaStore {
  const folderOf = ({ tenantId, contactId }: Omit<MediaPlace, 'messageId'>): string =>
    join(directory, tenantId, contactId)
  const fileOf = (place: MediaPlace, ending: string): string => join(folderOf(place), `${place.messageId}.${ending}`)
  const drop = (path: string): Promise<void> => rm(path, { force: true })

  async function isOutdated(path: string, ending: string | undefined, now: number): Promise<boolean> {
    const found = await stat(path).catch(() => null)
    const limitMs = ending === 'media' ? retentionMs : Math.min(retentionMs, UNFINISHED_MS_MAX)
    return found !== null && found.mtimeMs + limitMs <= now
  }

  async function sweepFolder(tenantId: string, contactId: string, now: number, wanted: MediaPlace[]): Promise<void> {
    const folder = folderOf({ tenantId, contactId })
    for await (const { name } of await opendir(folder)) {
      const [messageId = '', ...endings] = name.split('.')
      const ending = endings.at(-1)
      if (await isOutdated(join(folder, name), ending, now)) await drop(join(folder, name))
      else if (ending === 'want' && isId('msg', messageId)) wanted.push({ tenantId, contactId, messageId })
    }
    await removeEmpty(folder)
  }

  return {
    async want(place) {
      await mkdir(folderOf(place), { recursive: true, mode: MODE })
      await writeFile(fileOf(place, 'want'), '', { mode: 0o600 })
    },
    unwant: place => drop(fileOf(place, 'want')),

    async keep(place, contactKey, type, created, body) {
      const part = fileOf(place, `${randomBytes(6).toString('hex')}.part`)
      await mkdir(folderOf(place), { recursive: true, mode: MODE })
      try {
        const size = await writeMediaFile(part, { messageId: place.messageId, contactKey }, { type, created }, body)
        await rename(part, fileOf(place, 'media'))
        return size
      } catch (error) {
        await drop(part)
        throw error
      }
    },

    open: (place, contactKey) => openMediaFile(fileOf(place, 'media'), { messageId: place.messageId, contactKey }),
    discard: place => drop(fileOf(place, 'media')),
    remove: (tenantId, contactId) =>
      rm(folderOf({ tenantId, contactId }), { recursive: true, force: true, maxRetries: REMOVE_TRIES }),

    async sweep(now) {
      const wanted: MediaPlace[] = []
      await mkdir(directory, { recursive: true, mode: MODE })
      for await (const tenant of await opendir(directory)) {
        if (!isId('tn', tenant.name)) continue
        // A folder that goes away meanwhile was somebody else's to remove.
        for await (const contact of await opendir(join(directory, tenant.name)))
          if (isId('ct', contact.name)) await sweepFolder(tenant.name, contact.name, now, wanted).catch(ignoreMissing)
        await removeEmpty(join(directory, tenant.name))
      }
      return wanted
    }
  }
}

async function removeEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error
  })
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
