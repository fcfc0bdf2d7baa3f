import { z } from 'zod'
import { endpoint } from './endpoint.ts'

const tag = 'Health'
const uptime = z.number().describe('seconds since the process started')

export const HealthStatus = z.object({
  status: z.enum(['healthy', 'unhealthy']),
  database: z.enum(['connected', 'disconnected']),
  uptime,
})

export const getHealth = endpoint({
  name: 'getHealth',
  method: 'GET',
  path: '/api/health',
  tag,
  summary: 'Health of the service; 503 while the database does not answer',
  access: 'public',
  rate: 'probe',
  data: HealthStatus,
  message: 'Service is healthy',
})

export const getHealthSimple = endpoint({
  name: 'getHealthSimple',
  method: 'GET',
  path: '/api/health/simple',
  tag,
  summary: 'Whether the process answers, with nothing else checked',
  access: 'public',
  rate: 'probe',
  data: z.object({ status: z.literal('healthy') }),
  message: 'Service answers',
})

export const getReadiness = endpoint({
  name: 'getReadiness',
  method: 'GET',
  path: '/api/health/ready',
  tag,
  summary: 'Readiness: the database answers in a second and its schema is current; else 503',
  access: 'public',
  rate: 'probe',
  data: HealthStatus,
  message: 'Service is ready',
})

export const getLiveness = endpoint({
  name: 'getLiveness',
  method: 'GET',
  path: '/api/health/live',
  tag,
  summary: 'Liveness: the process only',
  access: 'public',
  rate: 'probe',
  data: z.object({ status: z.literal('healthy'), uptime }),
  message: 'Process is alive',
})
