import { z } from 'zod'

// The page is served without `unsafe-eval`, where zod would try to compile its checks. This must be said before any
// schema is made, so everything else is loaded after it.
z.config({ jitless: true })
await import('./start.tsx')
