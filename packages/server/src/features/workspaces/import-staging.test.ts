import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createImportStaging, type ImportStaging, type StagedPlan } from './import-staging.ts'
import { stagingAgeMilliseconds } from './workspace-limits.ts'

let directory: string
let active: Set<string>
let staging: ImportStaging
const imports = () => join(directory, 'imports')
const forms = () => join(directory, 'forms')

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atelier-staging-'))
  active = new Set()
  staging = createImportStaging({
    importsDirectory: imports(),
    formsDirectory: forms(),
    activeJobs: async (ids) => new Set(ids.filter((id) => active.has(id))),
    logger: { warn() {} },
  })
})
afterEach(async () => {
  await staging[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})

const plan: StagedPlan = {
  format: 'files',
  plan: {
    root: null,
    files: [{ index: 0, path: 'a.ts', bytes: 1 }],
    directories: [],
    skipped: [],
    ignored: [],
  },
}

async function receive(name: string, options: { old?: boolean; in?: string } = {}) {
  const form = join(options.in ?? forms(), name)
  await mkdir(form, { recursive: true })
  await writeFile(join(form, '0'), 'x')
  if (options.old) {
    const then = new Date(Date.now() - stagingAgeMilliseconds - 1_000)
    await utimes(form, then, then)
  }
  return { directory: form, files: [{ name: 'a.ts', path: join(form, '0'), bytes: 1 }] }
}

describe('staged imports', () => {
  it('[IMP14] keep the files and the plan until the job has ended', async () => {
    await staging.keep('job_1', await receive('form-1'), plan)
    expect(await readdir(forms())).toEqual([])
    expect(await staging.open('job_1')).toEqual({ ...plan, directory: join(imports(), 'job_1') })
    expect((await readdir(join(imports(), 'job_1'))).sort()).toEqual(['0', 'plan.json'])
    await staging.remove('job_1')
    await staging.remove('job_1')
    expect(await readdir(imports())).toEqual([])
  })

  it('[IMP14] that are gone are a clear error', async () => {
    await expect(staging.open('job_1')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('[IMP14] a start removes what crashed uploads and ended jobs left, and nothing else', async () => {
    active.add('job_active')
    await receive('form-crashed', { old: true })
    await receive('form-under-way')
    await receive('job_ended', { old: true, in: imports() })
    await receive('job_active', { old: true, in: imports() })
    await receive('job_about-to-be', { in: imports() })
    await staging.start()
    expect(await readdir(forms())).toEqual(['form-under-way'])
    expect((await readdir(imports())).sort()).toEqual(['job_about-to-be', 'job_active'])
  })

  it('[IMP14] a start on a new data directory finds nothing to remove', async () => {
    await staging.start()
    expect(await readdir(directory)).toEqual([])
  })
})
