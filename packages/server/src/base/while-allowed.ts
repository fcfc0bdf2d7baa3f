import { AppError } from './app-error.ts'

/** How often a stream checks that its caller still has the workspace, in milliseconds. */
export const guardAgainMilliseconds = 5_000

/**
 * Passes on what `changes` gives, until `enter` answers NOT_FOUND: a stream lives longer than a request, and its caller
 * may lose the workspace meanwhile. Asked at the next change once `everyMilliseconds` have passed.
 */
export async function* whileAllowed<Change>(
  changes: AsyncIterable<Change>,
  enter: () => Promise<unknown>,
  everyMilliseconds: number,
): AsyncGenerator<Change> {
  let enteredAt = performance.now()
  for await (const change of changes) {
    if (performance.now() - enteredAt >= everyMilliseconds) {
      if (!(await isStillIn(enter))) return
      enteredAt = performance.now()
    }
    yield change
  }
}

async function isStillIn(enter: () => Promise<unknown>): Promise<boolean> {
  try {
    await enter()
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return false
    throw error
  }
}
