import { z } from 'zod'
import { endpoint } from './endpoint.ts'

const tag = 'Service'

export const Limit = z.object({
  name: z.string(),
  value: z.number(),
  unit: z.string(),
  description: z.string(),
})
export type Limit = z.infer<typeof Limit>

export const listLimits = endpoint({
  name: 'listLimits',
  method: 'GET',
  path: '/api/limits',
  tag,
  summary: 'Every named limit in force: body sizes, lengths, counts and rates',
  access: 'user',
  scope: 'any',
  rate: 'standard',
  data: z.object({ items: z.array(Limit), nextCursor: z.null() }),
  message: 'Limits listed',
})

export const getOpenApi = endpoint({
  name: 'getOpenApi',
  method: 'GET',
  path: '/api/openapi.json',
  tag,
  summary: 'This interface as an OpenAPI 3.1 document',
  access: 'public',
  rate: 'standard',
  produces: 'application/json',
  message: 'Document read',
})
