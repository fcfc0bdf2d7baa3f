import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../base/app-error.ts'
import { foldersOf, type ImportPlan, planImport, type SourceEntry } from './import-plan.ts'

const options = { stripRoot: true, ignore: true, maxBytes: 1_000 }

function entriesOf(...names: string[]): SourceEntry[] {
  return names.map((name, index) =>
    name.endsWith('/') ? { kind: 'directory', index, name } : { kind: 'file', index, name, bytes: 1 },
  )
}

function pathsOf(plan: ImportPlan): string[] {
  return plan.files.map(({ path }) => path)
}

describe('the plan of an import', () => {
  it('[IMP2] drops the one top folder that all share, and only then', () => {
    expect(planImport(entriesOf('p/', 'p/a', 'p/src/b'), options)).toMatchObject({
      root: 'p',
      files: [
        { index: 1, path: 'a' },
        { index: 2, path: 'src/b' },
      ],
    })
    expect(pathsOf(planImport(entriesOf('p/a', 'q/b'), options))).toEqual(['p/a', 'q/b'])
    expect(pathsOf(planImport(entriesOf('p/a', 'b'), options))).toEqual(['p/a', 'b'])
    expect(pathsOf(planImport(entriesOf('p/a'), { ...options, stripRoot: false }))).toEqual(['p/a'])
  })

  it('[IMP2] what an operating system adds beside the folder does not keep it', () => {
    const plan = planImport(entriesOf('p/a', 'p/.DS_Store', '__MACOSX/p/._a', '.DS_Store'), options)
    expect(plan).toMatchObject({ root: 'p', files: [{ path: 'a' }] })
    expect(plan.ignored.map(({ path, files }) => [path, files])).toEqual([
      ['.DS_Store', 2],
      ['__MACOSX', 1],
    ])
  })

  it('[IMP7] leaves out version control and installed dependencies, with the count and reason', () => {
    const plan = planImport(
      entriesOf(
        '.git/config',
        '.git/objects/aa/bb',
        'src/a.ts',
        'node_modules/x/index.js',
        'app/node_modules/y/.git/z',
        '.gitignore',
      ),
      options,
    )
    expect(pathsOf(plan)).toEqual(['src/a.ts', '.gitignore'])
    expect(plan.ignored).toEqual([
      { path: '.git', files: 2, reason: 'version control' },
      { path: 'node_modules', files: 1, reason: 'installed dependencies' },
      { path: 'app/node_modules', files: 1, reason: 'installed dependencies' },
    ])
  })

  it('[IMP2] a folder that is the only one beside ignored ones is not the root', () => {
    expect(pathsOf(planImport(entriesOf('.git/config', 'src/a.ts'), options))).toEqual(['src/a.ts'])
  })

  it('[IMP3] an unsafe name refuses the whole import and is named', () => {
    expect(() => planImport(entriesOf('a', 'src/../../b'), options)).toThrow(
      expect.objectContaining({
        code: 'VALIDATION_ERROR',
        details: expect.objectContaining({ field: 'files', issue: expect.stringContaining('src/../../b') }),
      }),
    )
    const link: SourceEntry = { kind: 'unusable', index: 1, name: '/etc/x', reason: 'is a symbolic link' }
    expect(() => planImport([...entriesOf('a'), link], options)).toThrow('absolute')
    expect(() => planImport(entriesOf(''), options)).toThrow('not the name of a file')
  })

  it('[IMP4] the first of two entries with one path counts, also when they differ in Unicode form only', () => {
    const plan = planImport(entriesOf('caf\u00e9', 'cafe\u0301', './caf\u00e9', 'CAF\u00c9'), options)
    expect(plan.files.map(({ index }) => index)).toEqual([0, 3])
    expect(plan.skipped).toEqual([
      { path: 'café', reason: expect.stringContaining('twice') },
      { path: 'café', reason: expect.stringContaining('twice') },
    ])
  })

  it('[IMP4] what cannot be kept is skipped with the reason', () => {
    const link: SourceEntry = { kind: 'unusable', index: 1, name: 'p/link', reason: 'is a symbolic link' }
    const plan = planImport(
      [...entriesOf('p/a'), link, ...entriesOf('./p/b\\c').map((entry) => ({ ...entry, index: 2 }))],
      options,
    )
    expect(plan.skipped).toEqual([
      { path: 'link', reason: 'is a symbolic link' },
      { path: 'b\\c', reason: expect.stringContaining('backslash') },
    ])
  })

  it('[IMP8] a path that is a file and a folder is refused', () => {
    expect(() => planImport(entriesOf('p/a', 'p/a/b'), options)).toThrow('a is both a file and a folder')
    expect(() => planImport(entriesOf('x', 'a/', 'a'), options)).toThrow('a is both a file and a folder')
  })

  it('[IMP6] more than the allowed bytes are refused; what is ignored does not count', () => {
    const big = (name: string): SourceEntry => ({ kind: 'file', index: 0, name, bytes: 600 })
    expect(() => planImport([big('a'), big('b')], options)).toThrow('unpacks to more than')
    expect(pathsOf(planImport([big('a'), big('node_modules/b')], options))).toEqual(['a'])
  })

  it('[IMP9] nothing to import is an error that says why', () => {
    expect(() => planImport([], options)).toThrow('holds no files')
    expect(() => planImport(entriesOf('a/', 'b/'), options)).toThrow('holds no files')
    expect(() => planImport(entriesOf('.git/a'), options)).toThrow('.git is version control')
    const link: SourceEntry = { kind: 'unusable', index: 0, name: 'a', reason: 'is encrypted' }
    expect(() => planImport([link], options)).toThrow('a is encrypted')
  })

  it('[IMP3] whatever the names, a plan holds distinct safe paths, none of them a folder of another', () => {
    const segment = fc.constantFrom(
      'a',
      'b',
      'A',
      '.',
      '..',
      '',
      'node_modules',
      '.git',
      'caf\u00e9',
      'cafe\u0301',
      'x\\y',
      '\0',
    )
    const name = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'))
    fc.assert(
      fc.property(fc.array(name, { maxLength: 8 }), fc.boolean(), (names, stripRoot) => {
        let plan: ImportPlan
        try {
          plan = planImport(entriesOf(...names), { ...options, stripRoot })
        } catch (error) {
          expect(error).toBeInstanceOf(AppError)
          return
        }
        const paths = pathsOf(plan)
        expect(new Set(paths).size).toBe(paths.length)
        const folders = new Set(paths.flatMap(foldersOf))
        for (const path of paths) {
          expect(path.split('/')).not.toContain('..')
          expect(path).not.toMatch(/^\/|\0|\\|(node_modules|\.git)\//)
          expect(folders.has(path)).toBe(false)
        }
        const files = names.filter((one) => !one.endsWith('/')).length
        const ignored = plan.ignored.reduce((sum, one) => sum + one.files, 0)
        expect(paths.length + plan.skipped.length + ignored).toBe(files)
      }),
      { numRuns: 1_000 },
    )
  })
})
