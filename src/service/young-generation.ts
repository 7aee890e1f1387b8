/**
 * Room for what requests leave behind, so that it dies young. The main thread's comes from the command line
 * (`--max-semi-space-size`). The other threads do with a quarter of it: single requests wait for their collections too.
 */
import { setFlagsFromString } from 'node:v8'

/** For worker threads: 16 MiB for each half, and as much for large objects. */
export const YOUNG_GENERATION = { maxYoungGenerationSizeMb: 48 }
/**
 * The same for the thread of the batches: twice as much. Hundreds of items are always under way there, and each collection
 * copies them all. Nobody else waits for it.
 */
export const YOUNG_GENERATION_OF_BATCHES = { maxYoungGenerationSizeMb: 96 }

// The flag would outrank this limit in every thread that starts later. The main thread has its heap already.
setFlagsFromString('--max-semi-space-size=0')
