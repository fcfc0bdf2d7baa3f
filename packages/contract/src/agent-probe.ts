import * as z from 'zod'

/** What the self-test of a runtime asks its probe to try, from inside a sandbox made for that. */
export const ProbeRequest = z.strictObject({
  /** host paths that exist outside and must not be seen inside */
  hostPaths: z.array(z.string()),
  /** a port the server listens on, on the host's loopback */
  hostPort: z.int(),
  /** abstract UNIX socket the server listens on, without its leading NUL */
  abstractSocket: z.string(),
  /** a value in the server's environment */
  secret: z.string(),
  limits: z.strictObject({ processes: z.int(), fileBytes: z.int(), memoryBytes: z.int().nullable() }),
  /** a directory inside that may be written to */
  scratch: z.string(),
})
export type ProbeRequest = z.infer<typeof ProbeRequest>

export const ProbeAnswer = z.array(
  z.strictObject({
    name: z.string().max(100),
    kind: z.enum(['isolation', 'limit']),
    held: z.boolean(),
    detail: z.string().max(500),
  }),
)
export type ProbeAnswer = z.infer<typeof ProbeAnswer>
