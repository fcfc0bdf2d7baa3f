import { existsSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyReply } from 'fastify'
import { type HttpServer, isApiPath } from '../../platform/http/http-server.ts'

/**
 * Serves the built page. Each of its views has a URL, so any path that is neither the interface nor a file answers
 * with the page. Without a build, the interface works all the same and `/` says what to run.
 */
export function pageFeature(dependencies: { http: HttpServer; pageDirectory: string }): void {
  const { http, pageDirectory } = dependencies
  if (!existsSync(join(pageDirectory, 'index.html'))) {
    http.app.get('/', (_request, reply) =>
      reply.type('text/plain').send('The page is not built: npm start builds it.\n'),
    )
    return
  }
  http.app.register(fastifyStatic, {
    root: pageDirectory,
    wildcard: false,
    preCompressed: true,
    index: false,
    maxAge: '1y',
    immutable: true,
  })
  http.app.get('/*', (request, reply) => {
    // A browser that navigates asks for HTML; a script or an image that is missing must not get the page instead.
    const navigates = request.url === '/' || (request.headers.accept ?? '').includes('text/html')
    return navigates && !isApiPath(request.url) ? sendPage(reply) : reply.callNotFound()
  })
}

function sendPage(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-cache').sendFile('index.html', { maxAge: 0, immutable: false })
}
