import { EXIT, NOBODY_READS, type Command, type CommandEntry, type Invocation } from "./command.ts"
import { COMMANDS } from "./commands/index.ts"

/**
 * Runs one command line: finds the command, prints help, turns a thrown error into a message and an exit code.
 *
 * @param args the arguments after `toolwright`
 * @returns the exit code
 */
export async function runCommandLine(args: readonly string[], world: Omit<Invocation, "args">): Promise<number> {
  const [first, ...rest] = args
  try {
    if (first === undefined || first === "--help" || first === "-h") return print(world, overview())
    if (first === "--version" || first === "-v") return print(world, `${await version()}\n`)
    if (first === "help") return print(world, await help(rest[0]))
    const end = rest.indexOf("--")
    const own = end === -1 ? rest : rest.slice(0, end)
    if (own.includes("--help") || own.includes("-h")) return print(world, (await find(first)).usage)
    const command = await find(first, rest)
    const code = await command.run({ ...world, args: rest })
    return world.signal.aborted && world.signal.reason !== NOBODY_READS ? EXIT.interrupted : code
  } catch (thrown) {
    return world.signal.aborted ? EXIT.interrupted : await report(thrown, first, world)
  }
}

function print(world: Omit<Invocation, "args">, text: string): number {
  world.stdout.write(text)
  return EXIT.success
}

function overview(): string {
  const shown = COMMANDS.filter((entry) => entry.hidden !== true)
  const width = Math.max(...shown.map((entry) => entry.name.length))
  return [
    "Usage: toolwright <command> [arguments]",
    "",
    "Define a tool once. Any model can call it, correctly, and every call leaves a record.",
    "",
    "Commands:",
    ...shown.map((entry) => `  ${entry.name.padEnd(width)}  ${entry.summary}`),
    "",
    "toolwright help <command> shows a command's options and examples, toolwright help options those that",
    "many commands have, toolwright help settings those of toolwright.yaml; toolwright --version the version.",
    "Exit codes: 0 success, 1 the task failed, 2 wrong usage or configuration, 130 interrupted.",
    "",
  ].join("\n")
}

/** The help of a command, or what many of them have in common. */
async function help(topic: string | undefined): Promise<string> {
  if (topic === undefined) return overview()
  if (topic !== "options" && topic !== "settings") return (await find(topic)).usage
  const { optionsHelp, settingsHelp } = await import("./common-help.ts")
  return topic === "options" ? optionsHelp() : settingsHelp()
}

async function find(name: string, args?: readonly string[]): Promise<Command> {
  const entry: CommandEntry | undefined = COMMANDS.find((candidate) => candidate.name === name)
  if (entry !== undefined) return entry.load(args)
  const { usageError, nearest } = await import("./options.ts")
  const [near] = nearest(
    name,
    COMMANDS.map((candidate) => candidate.name),
  )
  throw usageError(
    name.startsWith("-") ? `Unknown option '${name}'.` : `Unknown command '${name}'.`,
    near === undefined ? "'toolwright --help' lists the commands." : `Did you mean 'toolwright ${near}'?`,
  )
}

async function version(): Promise<string> {
  const { readFile } = await import("node:fs/promises")
  const manifest = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string
  }
  return manifest.version
}

async function report(thrown: unknown, command: string | undefined, world: Omit<Invocation, "args">): Promise<number> {
  const { aboutCode, ToolwrightError } = await import("@toolwright/toolbox")
  const { neutralise } = await import("./render/neutralise.ts")
  if (!ToolwrightError.isInstance(thrown)) {
    const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
    world.stderr.write(`toolwright: ${neutralise(text)}\n`)
    return EXIT.failure
  }
  world.stderr.write(`toolwright: ${neutralise(thrown.message)}\n`)
  if (thrown.hint !== undefined) {
    const { asFlags } = await import("./as-flags.ts")
    world.stderr.write(`${neutralise(asFlags(thrown.hint))}\n`)
  }
  if (thrown.code === "USAGE" && COMMANDS.some((entry) => entry.name === command)) {
    world.stderr.write(`'toolwright help ${command}' shows the options.\n`)
  }
  return aboutCode(thrown.code)?.exit ?? EXIT.failure
}
