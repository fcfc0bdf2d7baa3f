import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { endpoints, getOpenApi, type Limit, listLimits, openApiDocument } from '@atelier/contract'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { mount, mountRaw } from '../../platform/http/mount.ts'

/** The interface describing itself: OpenAPI, the browsable page at `/docs`, and the limits in force. */
export function serviceFeature(dependencies: {
  http: HttpServer
  version: string
  limits: readonly Limit[]
}): void {
  const { http, version, limits } = dependencies
  const document = JSON.stringify(
    openApiDocument(endpoints, {
      title: 'Atelier',
      version,
      description:
        'Every JSON answer has the envelope `{ success, data, message, timestamp, requestId }`. Authenticate with ' +
        '`Authorization: Bearer <JWT>`, with `x-api-key`, or with the cookie of a signed-in browser.',
    }),
  )
  mount(http, listLimits, () => ({ items: [...limits], nextCursor: null }))
  mountRaw(http, getOpenApi, (_call, reply) => reply.type('application/json; charset=utf-8').send(document))
  mountDocs(http)
}

function mountDocs(http: HttpServer): void {
  const script = createRequire(import.meta.url).resolve(
    'openapi-explorer/dist/browser/openapi-explorer.min.js',
  )
  http.app.get('/docs', (_request, reply) => reply.type('text/html; charset=utf-8').send(docsPage))
  http.app.get('/docs/explorer.js', async (_request, reply) =>
    reply
      .type('text/javascript; charset=utf-8')
      .header('cache-control', 'max-age=86400')
      .send(await readFile(script)),
  )
}

const docsPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Atelier API</title>
<script type="module" src="/docs/explorer.js"></script>
<style>body { margin: 0; font-family: system-ui, sans-serif; }</style>
</head>
<body>
<openapi-explorer spec-url="/api/openapi.json" hide-server-selection="true" show-authentication="true"
  collapse="true" table="true" primary-color="#4f6ef7" nav-bg-color="#15171c" nav-text-color="#c9ced9" nav-accent-color="#8ea2ff" nav-hover-text-color="#ffffff"></openapi-explorer>
</body>
</html>
`
