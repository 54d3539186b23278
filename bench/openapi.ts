/**
 * Installs the two OpenAPI linters, so that the server's tests use them, and counts what they say about the document of
 * all built-in tools.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openApiDocument } from "@toolwright/server"
import { createBuiltinTools } from "@toolwright/tools"
import { installPeers } from "./peers.ts"
import type { BenchmarkResult } from "./run.ts"

export async function run(): Promise<BenchmarkResult> {
  const { folder } = installPeers("openapi", { "@redocly/cli": "2.77.0", "@stoplight/spectral-cli": "6.16.3" })
  const work = mkdtempSync(join(tmpdir(), "bench-openapi-"))
  try {
    const file = join(work, "openapi.json")
    const rules = join(work, "rules.yaml")
    const tools = createBuiltinTools({ roots: [{ path: work, access: "read-only" }] })
    writeFileSync(file, JSON.stringify(openApiDocument(tools, { url: "http://localhost:8001", secured: true })))
    writeFileSync(rules, "extends: ['spectral:oas']\n")
    const lint = (name: string, args: string[]): string =>
      spawnSync(
        process.execPath,
        [join(folder, "node_modules/.bin", name), "lint", "--format", "json", ...args, file],
        { encoding: "utf8", cwd: work, env: { ...process.env, REDOCLY_TELEMETRY: "off" } },
      ).stdout
    const redocly = JSON.parse(lint("redocly", [])) as { totals: { errors: number; warnings: number } }
    const spectral = JSON.parse(lint("spectral", ["--quiet", "--ruleset", rules]) || "[]") as { severity: number }[]
    const spectralErrors = spectral.filter(({ severity }) => severity === 0).length
    return {
      figures: {
        operations: tools.length,
        redocly_errors: redocly.totals.errors,
        redocly_warnings: redocly.totals.warnings,
        spectral_errors: spectralErrors,
        spectral_warnings: spectral.length - spectralErrors,
      },
      ratios: {},
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
