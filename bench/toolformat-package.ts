/**
 * The package alone: packed, installed into an empty folder, used in Node, bundled for a browser and run there; and how
 * big that is.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { runInNewContext } from "node:vm"
import { gzipSync } from "node:zlib"
import { installPeers } from "./peers.ts"

const ROOT = join(import.meta.dirname, "..")
const PACKAGES = ["toolbox", "logits", "toolformat"]
const PEER = { "@ai-sdk-tool/parser": "4.1.26" }

/** What a user does first: read a call out of a reply, and print one. Written so that it runs anywhere. */
const USE = `
  const formatter = toolformat.formatterById("hermes")
  const printed = formatter.printCalls([{ id: "call_0", name: "add", arguments: { a: 1 } }], [])
  const prompt = toolformat.createChatTemplate("{{ messages[0].content|upper }}").render({ messages: [{ role: "user", content: "hi" }] })
  const result = JSON.stringify([formatter.parse(printed).calls, prompt, typeof middleware.toolFormatMiddleware])
`

/** What {@link USE} must give. */
export const EXPECTED = JSON.stringify([[{ id: "call_0", name: "add", arguments: { a: 1 } }], "HI", "function"])

const npm = (folder: string, ...args: string[]): string =>
  execFileSync("npm", [...args, "--loglevel=error", "--no-audit", "--no-fund"], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  })

/**
 * Packs the three pure rooms and installs the tarballs into an empty folder, with their dependencies and nothing else.
 * They must have been built.
 *
 * @returns the folder and the tarballs' sizes in bytes
 */
export function packAndInstall(): { folder: string; tarballs: Record<string, number> } {
  const folder = mkdtempSync(join(tmpdir(), "toolformat-"))
  // At once: npm takes longer to start than to pack.
  const rooms = PACKAGES.flatMap((room) => ["-w", `packages/${room}`])
  const packed = JSON.parse(npm(ROOT, "pack", ...rooms, "--pack-destination", folder, "--json")) as {
    name: string
    filename: string
    size: number
  }[]
  const tarballs = Object.fromEntries(packed.map(({ name, size }) => [name.replace(/^.*\//, ""), size]))
  const files = packed.map(({ filename }) => `./${filename}`)
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }')
  npm(folder, "install", "--ignore-scripts", "--prefer-offline", ...files)
  return { folder, tarballs }
}

/** Uses the installed package in Node, without its sources. */
export function useInNode(folder: string): string {
  writeFileSync(
    join(folder, "use.js"),
    `import * as toolformat from "@toolwright/toolformat"\nimport * as middleware from ` +
      `"@toolwright/toolformat/ai-sdk"\n${USE}\nconsole.log(result)\n`,
  )
  return execFileSync(process.execPath, ["use.js"], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, NODE_OPTIONS: "" },
  }).trim()
}

/**
 * Bundles that use for a browser with the bundler that comes with the test runner. What a browser lacks makes it fail.
 */
export async function bundleForBrowser(folder: string): Promise<string> {
  const entry = join(folder, "browser.js")
  writeFileSync(
    entry,
    `import * as toolformat from "@toolwright/toolformat"\nimport * as middleware from ` +
      `"@toolwright/toolformat/ai-sdk"\n${USE}\nglobalThis.result = result\n`,
  )
  const runner = createRequire(join(ROOT, "package.json")).resolve("vitest")
  const vite = createRequire(runner).resolve("vite")
  const { rolldown } = (await import(pathToFileURL(createRequire(vite).resolve("rolldown")).href)) as {
    rolldown(
      options: object,
    ): Promise<{ generate(options: object): Promise<{ output: { code: string; imports: string[] }[] }> }>
  }
  const bundle = await rolldown({
    input: entry,
    platform: "browser",
    onLog: (_level: string, log: { code?: string; message: string }) => {
      if (log.code === "UNRESOLVED_IMPORT") throw new Error(log.message)
    },
  })
  const { output } = await bundle.generate({ format: "iife", minify: true, codeSplitting: false })
  const [chunk] = output
  if (chunk === undefined || output.length > 1 || chunk.imports.length > 0 || /["']node:/.test(chunk.code)) {
    throw new Error(`The bundle needs more than a browser has: ${chunk?.imports.join(", ")}`)
  }
  return chunk.code
}

/** Runs a bundle where there is only what every browser has. */
export function runAsBrowser(code: string): string {
  const browser: Record<string, unknown> = {
    TextEncoder,
    TextDecoder,
    URL,
    AbortController,
    AbortSignal,
    TransformStream,
    ReadableStream,
    crypto,
    performance,
    setTimeout,
    clearTimeout,
    queueMicrotask,
    structuredClone,
  }
  runInNewContext(code, browser)
  return String(browser.result)
}

/** Bytes of all files under a folder. */
function sizeOf(folder: string): number {
  return (readdirSync(folder, { recursive: true }) as string[]).reduce((sum, file) => {
    const stats = statSync(join(folder, file))
    return stats.isFile() ? sum + stats.size : sum
  }, 0)
}

/** Names of what npm installed, the package itself and its rooms left out. */
function dependenciesIn(folder: string): string[] {
  const lock = JSON.parse(readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8")) as {
    packages: Record<string, unknown>
  }
  return Object.keys(lock.packages)
    .map((path) => path.replace(/^.*node_modules\//, ""))
    .filter((name) => !name.startsWith("@toolwright/"))
}

export async function run(): Promise<{
  figures: Record<string, number>
  ratios: Record<string, number>
  report: string
}> {
  execFileSync(
    process.execPath,
    [
      createRequire(join(ROOT, "package.json"))
        .resolve("typescript/package.json")
        .replace(/package\.json$/, "bin/tsc"),
      "-b",
      "packages/toolformat",
    ],
    { cwd: ROOT, stdio: "inherit" },
  )
  const { folder, tarballs } = packAndInstall()
  try {
    const inNode = useInNode(folder)
    const code = await bundleForBrowser(folder)
    const inBrowser = runAsBrowser(code)
    if (inNode !== EXPECTED || inBrowser !== EXPECTED)
      throw new Error(`Expected ${EXPECTED}, got ${inNode} in Node and ${inBrowser} in a browser.`)
    const dependencies = dependenciesIn(folder)
    const installed = sizeOf(join(folder, "node_modules"))
    const peer = installPeers("toolformat-package", PEER).folder
    const peerInstalled = sizeOf(join(peer, "node_modules"))
    const peerDependencies = dependenciesIn(peer).length - 1
    const kb = (bytes: number): number => bytes / 1024
    return {
      figures: {
        packed_kb: kb(Object.values(tarballs).reduce((sum, size) => sum + size, 0)),
        toolformat_packed_kb: kb(tarballs.toolformat!),
        installed_mb: kb(installed) / 1024,
        dependencies: dependencies.length,
        browser_bundle_kb: kb(Buffer.byteLength(code)),
        browser_bundle_gzip_kb: kb(gzipSync(code).length),
        peer_installed_mb: kb(peerInstalled) / 1024,
        peer_dependencies: peerDependencies,
      },
      ratios: { "@ai-sdk-tool/parser": peerInstalled / installed },
      report:
        "Packed with toolbox and logits, installed alone in an empty folder, used in Node and as a browser bundle " +
        `without any node: import.\nDependencies: ${dependencies.join(", ") || "none"}.`,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
