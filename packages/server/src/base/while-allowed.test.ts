import { expect, it } from 'vitest'
import { AppError, notFound } from './app-error.ts'
import { whileAllowed } from './while-allowed.ts'

async function* count(): AsyncGenerator<number> {
  for (let at = 1; at <= 5; at += 1) yield at
}

it('[JOB8] a stream ends when its caller has lost the workspace', async () => {
  let entered = 0
  const enter = async () => {
    entered += 1
    if (entered === 3) throw notFound('Workspace')
  }
  expect(await Array.fromAsync(whileAllowed(count(), enter, 0))).toEqual([1, 2])
})

it('[JOB8] the workspace is not asked about at every change', async () => {
  const enter = () => Promise.reject(notFound('Workspace'))
  expect(await Array.fromAsync(whileAllowed(count(), enter, 60_000))).toHaveLength(5)
})

it('[JOB8] a fault is not taken for a lost workspace', async () => {
  const enter = () => Promise.reject(new AppError('SERVICE_UNAVAILABLE', 'away'))
  await expect(Array.fromAsync(whileAllowed(count(), enter, 0))).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
  })
})
