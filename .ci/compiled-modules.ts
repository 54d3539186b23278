import { existsSync, readdirSync, rmSync } from "node:fs"
import { fileURLToPath } from "node:url"

/** Where Node keeps what it compiled, for workers and for programs that tests start. */
export const COMPILED = fileURLToPath(new URL("../node_modules/.cache/compiled", import.meta.url))

/** Some ten runs: each adds the modules that its tests wrote, which no later one loads. */
const MOST_FILES = 60_000

/** Begins anew where too much was kept. */
export default function boundCompiledModules(): void {
  if (existsSync(COMPILED) && readdirSync(COMPILED, { recursive: true }).length > MOST_FILES)
    rmSync(COMPILED, { recursive: true, force: true })
}
