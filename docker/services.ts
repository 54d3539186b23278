/**
 * The two services of compose.yaml without Docker: `npm run services`. Both listen on this machine alone; one that ends
 * is started again until this program is stopped.
 */
import { spawn, type ChildProcess } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"

const ROOT = join(import.meta.dirname, "..")
const COMMAND = join(ROOT, "packages/cli/bin/toolwright.js")
const { TOOLS_API_PORT: toolsPort = "8001", REASONING_API_PORT: reasoningPort = "8000", ...env } = process.env
const FIRST_MS = 500
const LONGEST_MS = 10_000

const running = new Map<string, ChildProcess>()
let stopping = false

/** Starts a service, and again whenever it ends. @returns the address once it serves */
function keep(name: string, args: readonly string[], variables: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve) => {
    let wait = FIRST_MS
    const start = (): void => {
      const child = spawn(process.execPath, [COMMAND, "serve", ...args], {
        cwd: ROOT,
        env: { ...env, ...variables },
        stdio: ["ignore", "pipe", "pipe"],
      })
      running.set(name, child)
      for (const stream of [child.stdout, child.stderr])
        createInterface({ input: stream }).on("line", (line) => {
          console.log(`${name.padEnd(13)} | ${line}`)
          const url = /^Serving \d+ tools at (\S+)$/.exec(line)?.[1]
          if (url === undefined) return
          wait = FIRST_MS
          resolve(url)
        })
      child.on("exit", (code) => {
        if (stopping) return
        console.log(`${name.padEnd(13)} | ended with ${code}, starts again in ${wait} ms`)
        setTimeout(start, wait)
        wait = Math.min(wait * 2, LONGEST_MS)
      })
    }
    start()
  })
}

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    stopping = true
    for (const child of running.values()) child.kill("SIGTERM")
  })

const tools = await keep("tools-api", ["--port", toolsPort, "--quiet"], {
  BASE_REPOS_PATH: env.BASE_REPOS_PATH ?? ROOT,
  BASE_DOWNLOADS_PATH: env.BASE_DOWNLOADS_PATH ?? join(ROOT, "docs"),
  PLAYBOOKS_PATH: env.PLAYBOOKS_PATH ?? join(ROOT, "packages/prompts/prompts"),
})
await keep(
  "reasoning-api",
  ["--port", reasoningPort, "--quiet", "--no-builtins", "--database", ".toolwright/reasoning-api.sqlite"],
  {
    TOOLS_API_URL: env.TOOLS_API_URL ?? `tools-api=${tools}`,
    BASE_REPOS_PATH: "",
    BASE_DOWNLOADS_PATH: "",
  },
)
