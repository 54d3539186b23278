import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, usageError, type OptionDeclarations } from "../options.ts"
import { CONFIGURATION_OPTIONS, configurationFor } from "../settings-options.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  port: { type: "string", value: "n", description: "Port to listen on (any free one)" },
  open: { type: "boolean", description: "Open the browser (on; --no-open prints the address alone)" },
  ...CONFIGURATION_OPTIONS,
} as const satisfies OptionDeclarations

export const uiCommand: Command = {
  name: "ui",
  summary: "Open the console: call tools, watch runs, look into what happened",
  usage: usageText({
    synopsis: ["ui [options]"],
    description: "Serves this folder to this machine alone, and opens the page in the browser.",
    options: OPTIONS,
    examples: [
      { line: "toolwright ui", does: "The tools and runs of this folder" },
      { line: "toolwright ui --no-open", does: "Prints the address, to be opened by hand" },
    ],
  }),
  details: `The page is the one that \`toolwright serve\` serves at \`/\`. The address holds a code that opens it once;
the token behind it stays in that tab, and ends with the server. Ctrl-C ends it.`,
  async run(invocation: Invocation) {
    const { values } = parseOptions(invocation.args, OPTIONS, { max: 0 })
    const port = Number(values.port ?? 0)
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw usageError(`'--port ${values.port}' is no port.`, "Give a number from 0 to 65535.")
    const { stdout, stderr, cwd, env, signal } = invocation
    const say = (line: string): void => void stderr.write(`${line}\n`)
    const [{ createToolwright }, { serveToolwright }, { serviceWorker }, { configuration }] = await Promise.all([
      import("@toolwright/runtime"),
      import("../service/serve-toolwright.ts"),
      import("../service/service-worker.ts"),
      configurationFor(invocation, values),
    ])
    // Whoever looks at the page can be asked.
    const permissions = { ...configuration.permissions, approvals: "wait" as const }
    const made = { ...configuration, permissions, withBuiltins: true, cwd, env, log: say }
    await using toolwright = await createToolwright(made)
    const [token, code] = [randomBytes(24).toString("base64url"), randomBytes(18).toString("base64url")]
    await using served = await serveToolwright(toolwright, {
      port,
      tokens: [{ token }],
      oneTime: { token, code },
      announce: say,
      env,
    })
    await using _worker = await serviceWorker(toolwright, made, { concurrency: 1, secured: true, log: say })
    // Built before anybody waits in front of it.
    await fetch(served.url, { headers: { accept: "text/html" } })
    const address = `${served.url}/#code=${code}`
    stdout.write(`The console of this folder, for one visit: ${address}\n`)
    if (values.open !== false) await openBrowser(address, say, cwd)
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener("abort", () => resolve(), { once: true })
    })
    return EXIT.success
  },
}

/** Hands the address to the system, by no program of the folder; where nothing opens it, a person can. */
async function openBrowser(address: string, say: (line: string) => void, cwd: string): Promise<void> {
  const { findProgram, trustedPath } = await import("@toolwright/host/sandbox")
  const [name, ...args] =
    process.platform === "darwin"
      ? ["open", address]
      : process.platform === "win32"
        ? ["rundll32", "url.dll,FileProtocolHandler", address]
        : ["xdg-open", address]
  const failed = (): void => say("No browser could be opened: open the address above.")
  const program = process.platform === "win32" ? name : await findProgram(name!, await trustedPath([cwd]))
  if (program === undefined) return failed()
  const child = spawn(program, args, { stdio: "ignore", detached: true })
  child.on("error", failed)
  child.unref()
}
