import { RequestRefused } from './errors.ts'

/** A cursor that is not ours is a problem of the query: 422 at `parameter`. The views say so by the error's name. */
export async function ask<T>(parameter: 'cursor' | 'before', question: () => Promise<T>): Promise<T> {
  try {
    return await question()
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'BadCursor') throw error
    throw new RequestRefused('validation_failed', [{ path: parameter, message: 'is not a cursor of this list' }])
  }
}

/** Lists that fit on one page keep the form of the others. */
export const onePage = <T>(items: readonly T[]) => ({ items, nextCursor: null })
