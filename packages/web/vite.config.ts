import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const outDir = 'dist'

export default defineConfig({
  plugins: [react(), compressed()],
  build: {
    outDir,
    // The page is served under `default-src 'self'`: nothing becomes a data: address.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { port: 5173, proxy: { '/api': 'http://127.0.0.1:3000', '/docs': 'http://127.0.0.1:3000' } },
})

/** Smaller files gain less than a packet. */
const leastBytes = 1_024

/** Puts a `.br` and a `.gz` beside each asset, so that the server compresses nothing while it serves. */
function compressed(): Plugin {
  return {
    name: 'atelier:compressed',
    apply: 'build',
    async writeBundle() {
      const folder = join(import.meta.dirname, outDir, 'assets')
      const names = (await readdir(folder)).filter((name) => /\.(js|css|svg)$/.test(name))
      await Promise.all(names.map((name) => compress(join(folder, name))))
    },
  }
}

async function compress(path: string): Promise<void> {
  const content = await readFile(path)
  if (content.length < leastBytes) return
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
  await writeFile(`${path}.br`, await promisify(brotliCompress)(content, brotli))
  await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }))
}
