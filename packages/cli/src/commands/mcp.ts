import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, type OptionDeclarations } from "../options.ts"
import { CONFIGURATION_OPTIONS, configurationFor } from "../settings-options.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  prompts: {
    type: "string",
    value: "dir",
    multiple: true,
    description: "Folder of prompt files, beside the shipped prompts",
  },
  bundle: {
    type: "string",
    value: "name",
    multiple: true,
    description: "List the tools of this bundle: all, reading, agents, … (coding)",
  },
  ...CONFIGURATION_OPTIONS,
} as const satisfies OptionDeclarations

/** A host starts this command with few of the variables that a terminal has, and then it looks elsewhere. */
async function whereTrustIsKept(env: Invocation["env"]): Promise<string> {
  const { trustStore } = await import("@toolwright/runtime/configuration")
  return (
    `What you trust is kept in ${trustStore(env).file}. Where you set XDG_STATE_HOME in your terminal, name it ` +
    "in the host's settings of this server too, among its environment variables; or add --trust to its arguments."
  )
}

export const mcpCommand: Command = {
  name: "mcp",
  summary: "Serve the tools and prompts to an MCP host over standard input and output",
  usage: usageText({
    synopsis: ["mcp [options]"],
    description:
      "For hosts that start their servers themselves, and for compatibility with those that speak nothing else. " +
      "Nothing but the protocol is written to standard output; 'toolwright serve --mcp' serves the same " +
      "over HTTP.",
    options: OPTIONS,
    examples: [
      {
        line: "claude mcp add toolwright -- toolwright mcp --root .",
        does: "The tools of this folder in another host",
      },
      { line: "toolwright mcp --bundle all", does: "Every tool, not only those for code" },
      {
        line: "toolwright mcp --read-only . --mcp-server http://localhost:8005/mcp",
        does: "Reading tools, and those of another server",
      },
    ],
  }),
  async run(invocation) {
    const { values } = parseOptions(invocation.args, OPTIONS, { max: 0 })
    const [{ createToolwright }, { mcpOverStdio }, { loadPrompts }, { configuration, waiting }] = await Promise.all([
      import("@toolwright/runtime"),
      import("@toolwright/mcp"),
      import("@toolwright/prompts"),
      configurationFor(invocation, values),
    ])
    const log = (line: string): void => void invocation.stderr.write(`${line}\n`)
    if (waiting.length > 0) log(await whereTrustIsKept(invocation.env))
    await using toolwright = await createToolwright({
      ...configuration,
      withBuiltins: true,
      cwd: invocation.cwd,
      env: invocation.env,
      log,
    })
    const [{ serviceWorker }, { listedTools, offeredTools }] = await Promise.all([
      import("../service/service-worker.ts"),
      import("../service/offered-tools.ts"),
    ])
    const made = { ...configuration, withBuiltins: true, cwd: invocation.cwd, env: invocation.env }
    const concurrency = values.bundle?.includes("agents") === true ? 1 : 0
    await using _worker = await serviceWorker(toolwright, made, { concurrency, secured: true, log })
    const prompts = await loadPrompts({ folders: values.prompts ?? [] })
    await mcpOverStdio(
      {
        tools: listedTools(offeredTools(toolwright, { secured: true, bundles: values.bundle }), values.bundle),
        prompts,
        middleware: toolwright.middleware,
        executeCall: toolwright.executeCall("mcp", { many: true }),
        onToolsChange: (listener) =>
          toolwright.registry.subscribe({ onToolRegistered: listener, onToolUnregistered: listener }),
        ...(toolwright.permissions === undefined ? {} : { permissions: toolwright.permissions }),
        toolTimeoutMs: configuration.agent.toolTimeoutSeconds * 1000,
      },
      invocation.signal,
    )
    invocation.leave?.()
    return EXIT.success
  },
}
