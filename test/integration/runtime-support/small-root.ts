import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What the attacks use, as far as this machine has it. */
const programs = [
  ...[
    'bash',
    'sh',
    'ls',
    'cat',
    'cp',
    'mv',
    'rm',
    'ln',
    'mkdir',
    'mknod',
    'mkfifo',
    'chmod',
    'id',
    'env',
    'sleep',
    'head',
  ],
  ...[
    'stat',
    'touch',
    'true',
    'wc',
    'dd',
    'sync',
    'seq',
    'tr',
    'grep',
    'readlink',
    'stty',
    'sort',
    'base64',
    'yes',
  ],
  ...[
    'mount',
    'umount',
    'unshare',
    'setpriv',
    'prlimit',
    'perl',
    'ps',
    'rg',
    'find',
    'nohup',
    'setsid',
    'nproc',
    'printf',
  ],
]

/** Copies a root file system of a few megabytes out of this machine's own programs, for `docker import`; `natives` are files whose libraries it must have. */
export function makeSmallRoot(root: string, natives: string[]): void {
  for (const path of [
    'usr/bin',
    'usr/lib',
    'usr/lib64',
    'etc',
    'tmp',
    'proc',
    'dev',
    'sys',
    'home/user',
    'opt/node/bin',
    'opt/atelier',
    'run/atelier',
    'var',
  ]) {
    mkdirSync(join(root, path), { recursive: true })
  }
  // A tmpfs in its place takes its mode over, which is this one in every image.
  chmodSync(join(root, 'tmp'), 0o1777)
  for (const [name, target] of [
    ['bin', 'usr/bin'],
    ['sbin', 'usr/bin'],
    ['lib', 'usr/lib'],
    ['lib64', 'usr/lib64'],
  ] as const) {
    symlinkSync(target, join(root, name))
  }
  const libraries = new Set<string>()
  for (const program of programs) {
    const path = ['/usr/bin', '/bin', '/usr/sbin']
      .map((directory) => join(directory, program))
      .find((found) => existsSync(found))
    if (path === undefined) continue
    copyFileSync(realpathSync(path), join(root, 'usr/bin', program))
    for (const library of librariesOf(path)) libraries.add(library)
  }
  for (const path of [process.execPath, ...natives])
    for (const library of librariesOf(path)) libraries.add(library)
  for (const library of libraries) copyLibrary(root, library)
  const perlBase = '/usr/lib/x86_64-linux-gnu/perl-base'
  if (existsSync(perlBase)) cpSync(perlBase, join(root, perlBase), { recursive: true })
}

function librariesOf(path: string): string[] {
  const text = execFileSync('ldd', [realpathSync(path)], { encoding: 'utf8' })
  return [...text.matchAll(/(\/\S+\.so\S*)/g)].map(([, library = '']) => library)
}

/** The loader looks under the name it knows, which is often a link. */
function copyLibrary(root: string, library: string): void {
  const target = join(root, library.replace(/^\/(lib|lib64)\//, '/usr/$1/'))
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(realpathSync(library), target)
}
