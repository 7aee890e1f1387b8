/** What is left of somebody: every byte of every file of a DATA_DIR is searched. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Empty when the file has just been removed, as an erasure does. */
function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}

/** Files under the directory that hold one of the words, with the word. */
export function tracesIn(dataDir: string, words: readonly string[]): readonly string[] {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  return files.flatMap(({ parentPath, name }) => {
    const bytes = bytesOf(join(parentPath, name))
    return words.filter(word => bytes.includes(word)).map(word => `${name}: ${word}`)
  })
}
