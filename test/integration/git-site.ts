import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A Git server over https with one repository, `project.git`; its certificate is its own. */
export interface GitSite extends AsyncDisposable {
  readonly port: number
  /** the newest commit of the branch `main` */
  readonly commit: string
}

export async function startGitSite(files: Record<string, string>): Promise<GitSite> {
  const directory = mkdtempSync(join(tmpdir(), 'atelier-git-'))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=ada', '-c', 'user.email=ada@example.com', ...args], {
      cwd: join(directory, 'work'),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    }).trim()
  mkdirSync(join(directory, 'work'))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(directory, 'work', path, '..'), { recursive: true })
    writeFileSync(join(directory, 'work', path), content)
  }
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  git('commit', '-qm', 'first')
  git('clone', '-q', '--bare', '.', '../project.git')
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(directory, name)) as [string, string]
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-subj', '/CN=git.test'],
    { stdio: 'ignore' },
  )
  const backend = join(git('--exec-path'), 'git-http-backend')
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'https://git.test')
    // CGI, RFC 3875: what the program writes first are the headers.
    const cgi = spawn(backend, {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: directory,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'safe.directory',
        GIT_CONFIG_VALUE_0: '*',
        PATH_INFO: pathname,
        QUERY_STRING: searchParams.toString(),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        HTTP_GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    request.pipe(cgi.stdin)
    const parts: Buffer[] = []
    cgi.stdout.on('data', (part: Buffer) => parts.push(part))
    cgi.stdout.once('end', () => {
      const answer = Buffer.concat(parts)
      const end = answer.indexOf('\r\n\r\n')
      for (const line of answer.subarray(0, end).toString('latin1').split('\r\n')) {
        const [name = '', value = ''] = line.split(/:\s*/, 2)
        if (name.toLowerCase() === 'status') response.statusCode = Number.parseInt(value, 10)
        else response.setHeader(name, value)
      }
      response.end(answer.subarray(end + 4))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    commit: git('rev-parse', 'HEAD'),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      rmSync(directory, { recursive: true })
    },
  }
}
