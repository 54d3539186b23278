import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import tailwind from "@tailwindcss/vite"
import { build, defaultClientConditions, type InlineConfig } from "vite"
import { isBuilt, SOURCE, sourceStamp, STAMP } from "./stamp.ts"

/**
 * Builds the page: for the server as files, of which most are loaded when they are needed; for a run as one file as one
 * script and one style sheet. Written beside the target first, so that nobody reads half of it.
 */
export async function buildPage(target: string): Promise<void> {
  if (isBuilt(target)) return
  const stamp = sourceStamp()
  const making = mkdtempSync(`${target}-`)
  const common: InlineConfig = {
    root: SOURCE,
    configFile: false,
    logLevel: "error",
    publicDir: false,
    base: "./",
    plugins: [tailwind()],
    mode: "production",
    // The packages that the page takes something of are read from their sources, as everywhere in a clone.
    resolve: { conditions: ["toolwright-source", ...defaultClientConditions] },
    // Whatever the process that builds runs as, a test for one.
    oxc: { jsx: { runtime: "automatic", development: false } },
    define: { "process.env.NODE_ENV": '"production"' },
  }
  const output = { target: "es2023", cssTarget: "chrome123", reportCompressedSize: false, emptyOutDir: true } as const
  try {
    await build({
      ...common,
      build: { ...output, outDir: making, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
    })
    await build({
      ...common,
      build: {
        ...output,
        outDir: join(making, "viewer"),
        cssCodeSplit: false,
        rolldownOptions: {
          input: join(SOURCE, "viewer.tsx"),
          output: {
            format: "iife",
            codeSplitting: false,
            entryFileNames: "viewer.js",
            assetFileNames: "viewer[extname]",
          },
        },
      },
    })
    writeFileSync(join(making, STAMP), stamp)
    rmSync(target, { recursive: true, force: true })
    move(making, target)
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
}

/** Two processes may have built at once: then the page of the other one stands there, and is the same. */
function move(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (thrown) {
    if (!existsSync(join(to, STAMP))) throw thrown
  }
}

/** Where the page is built to, seen from the sources. */
export const BUILT = join(dirname(dirname(import.meta.dirname)), "dist/page")
