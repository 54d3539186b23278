import {
  aboutCode,
  describeError,
  executeCall,
  isJson,
  nearest,
  serializeTool,
  type PermissionPolicy,
  type ToolDefinition,
  type ToolResult,
} from "@toolwright/toolbox"
import { shellQuoted } from "@toolwright/toolbox/shell-word"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, usageError, type OptionDeclarations, type OptionValues } from "../options.ts"
import { asFlags } from "../as-flags.ts"
import { neutralise } from "../render/neutralise.ts"
import { configurationFor, WORKSPACE_OPTIONS } from "../settings-options.ts"
import { listLines, otherKits } from "../tool-catalogue/lines.ts"
import { readCall } from "../tool-arguments/read.ts"
import { describeTool, firstSentence, originOf } from "../tool-arguments/show.ts"
import { usageText } from "../usage.ts"

export const OPTIONS = {
  json: { type: "boolean", description: "Print JSON: definitions, or the whole result of a call" },
  split: { type: "boolean", description: "Of list: each action of a multi-action tool as a tool of its own" },
  args: {
    type: "string",
    value: "json",
    description: "Of call: all arguments as one JSON object; - reads it from standard input, @file from a file",
  },
  timeout: { type: "string", value: "seconds", description: "Of call: longest time it may take" },
  record: { type: "boolean", description: "Of call: keep a record of it (on; --no-record turns it off)" },
  ...WORKSPACE_OPTIONS,
} as const satisfies OptionDeclarations

type Values = OptionValues<typeof OPTIONS>

export const toolsCommand: Command = {
  name: "tools",
  summary: "List the tools, show one, or call one by hand",
  usage: usageText({
    synopsis: [
      "tools [list] [options]",
      "tools show <name> [options]",
      "tools call <name> [--argument value …] [options]",
    ],
    description:
      "A call's arguments are flags, typed by the tool's schema: a list is a flag given several times, an object " +
      "is JSON. Exit code 1 means that the call failed, 2 that it was not a right call.",
    options: OPTIONS,
    examples: [
      { line: "toolwright tools list", does: "What there is" },
      { line: "toolwright tools show search", does: "One tool, with its arguments and examples" },
      { line: "toolwright tools call search_grep --pattern TODO --path src", does: "Call one" },
      {
        line: `echo '{"message": "hello"}' | toolwright tools call echo - --json`,
        does: "Arguments from standard input, the result as JSON",
      },
    ],
  }),
  details: `Tools may touch the folders given with \`--root\` (read and write) and \`--read-only\`, or the current
folder. The actions of a tool are tools too: \`search_grep\` is \`search\` with \`--action grep\`.`,
  async run(invocation) {
    const [action = "list", ...rest] = invocation.args
    if (action === "call") return call(invocation, rest)
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 2 })
    const [word = "list", name] = positionals
    if (word === "list" && name === undefined) return list(invocation, values)
    if (word !== "show")
      throw usageError(`'tools ${word}' is not known.`, "Use 'tools list', 'tools show <name>' or 'tools call <name>'.")
    if (name === undefined) throw usageError("Which tool?", "Give its name; 'toolwright tools list' lists them.")
    return show(invocation, values, name)
  },
}

/**
 * The built-in tools alone where nothing else is configured: models, agents and MCP take longer to load than a call
 * takes.
 */
async function assembled(invocation: Invocation, values: Values, wanted?: string) {
  const { cwd, env, stderr } = invocation
  const { configuration } = await configurationFor(invocation, values)
  const { rest, services } = configuration.sources
  const foreign = [configuration.tools, rest, services, ...Object.values(configuration.mcp)]
  if (foreign.every((setting) => setting === undefined)) {
    const { builtinTools, middlewareFor, permissionsFor, recordsFor, registered } =
      await import("@toolwright/runtime/tools")
    const records = recordsFor(configuration, { cwd, env })
    return {
      ...(await registered(
        await builtinTools(configuration, cwd, { env, ...(wanted === undefined ? {} : { wanted }) }),
        env,
      )),
      configuration,
      permissions: permissionsFor(configuration, { approve: typed }),
      middleware: await middlewareFor(configuration, { cwd, env }),
      executeCall: records.executeCall,
      [Symbol.asyncDispose]: records.close,
    }
  }
  const { createToolwright } = await import("@toolwright/runtime")
  const log = (line: string): void => void stderr.write(`${neutralise(line)}\n`)
  return createToolwright({ ...configuration, withBuiltins: true, cwd, env, log, approve: typed })
}

/**
 * Whoever types a call has said yes to it: what is to be asked about may run, what is denied may not. A tool that is
 * not what it was is not the one that they know.
 */
const typed: NonNullable<PermissionPolicy["approve"]> = ({ tool: { changed, provenance } }) =>
  Promise.resolve(
    changed === undefined ||
      `${changed} changed since it was let in. 'toolwright trust list' shows what it says now, 'toolwright trust ` +
        `source ${provenance?.name ?? "NAME"}' lets it in`,
  )

type Assembled = Awaited<ReturnType<typeof assembled>>

async function list(invocation: Invocation, values: Values): Promise<number> {
  await using toolwright = await assembled(invocation, values)
  const { stdout } = invocation
  const tools =
    values.split === true ? toolwright.registry.view({ splitActions: true }).list() : toolwright.registry.list()
  const missing = new Map(toolwright.unavailable.map(({ name, reason }) => [name, reason]))
  if (values.json === true) {
    const definitions = tools.map((tool) => ({ ...written(tool), available: !missing.has(tool.name) }))
    stdout.write(`${JSON.stringify(definitions, null, 2)}\n`)
    return EXIT.success
  }
  const listed = tools.map(({ name, category, description, provenance }) => {
    const reason = missing.get(name)
    const origin = originOf(provenance)
    return {
      name,
      category,
      summary: firstSentence(description),
      ...(origin === undefined ? {} : { origin }),
      ...(reason === undefined ? {} : { unavailable: reason }),
    }
  })
  for (const line of listLines(listed, invocation)) stdout.write(`${line}\n`)
  for (const line of otherKits(tools)) invocation.stderr.write(`${line}\n`)
  return EXIT.success
}

/** A definition as JSON, with where it comes from. */
function written(tool: ToolDefinition): object {
  const { provenance } = tool
  return { ...serializeTool(tool), ...(provenance === undefined ? {} : { provenance }) }
}

async function show(invocation: Invocation, values: Values, name: string): Promise<number> {
  await using toolwright = await assembled(invocation, values, name)
  const tool = find(toolwright, name)
  const reason = toolwright.unavailable.find((each) => each.name === tool.name)?.reason
  invocation.stdout.write(
    values.json === true ? `${JSON.stringify(written(tool), null, 2)}\n` : describeTool(tool, reason),
  )
  return EXIT.success
}

async function call(invocation: Invocation, args: readonly string[]): Promise<number> {
  // Options of the command may stand before the tool's name.
  const at = nameIndex(args)
  const name = args[at]
  if (name === undefined) throw usageError("Which tool?", "Give its name; 'toolwright tools list' lists them.")
  const before = parseOptions(args.slice(0, at), OPTIONS).values
  const after = args.slice(at + 1)
  await using toolwright = await assembled(invocation, { ...before, ...workspaceValues(after) }, name)
  const tool = find(toolwright, name)
  const { values: own, args: given } = await readCall(tool, after, OPTIONS, invocation)
  const values = { ...before, ...own }
  const limit = values.timeout === undefined ? undefined : secondsOf(values.timeout) * 1000
  const called = limit === undefined ? tool : { ...tool, timeoutMs: limit }
  const execute = values.record === false ? executeCall : toolwright.executeCall("tools")
  const result = await execute(
    toolwright.registry.view({ add: [called] }),
    { name: tool.name, arguments: given },
    {
      signal: invocation.signal,
      timeoutMs: toolwright.configuration.agent.toolTimeoutSeconds * 1000,
      middleware: toolwright.middleware,
      ...(toolwright.permissions === undefined ? {} : { permissions: toolwright.permissions }),
    },
  )
  print(invocation, tool, result, values.json === true)
  if (result.success) return EXIT.success
  return aboutCode(result.error.code)?.exit ?? EXIT.failure
}

function print({ stdout, stderr, isTTY }: Invocation, tool: ToolDefinition, result: ToolResult, json: boolean): void {
  if (json) return void stdout.write(`${JSON.stringify(result, null, 2)}\n`)
  const plain = isTTY.stdout ? neutralise : (text: string) => text
  const { success, error } = result
  // What is said of a failure goes where errors go, whole; a report of its own stays with the output.
  const text = success || error === undefined || result.output !== describeError(error) ? result.output : ""
  if (text !== "") stdout.write(text.endsWith("\n") ? plain(text) : `${plain(text)}\n`)
  if (success || error === undefined) return
  stderr.write(`toolwright: ${error.code}: ${neutralise(error.message)}\n`)
  const hint = result.metadata["permission"] === "ask" ? permitting(error.hint) : (FOR_PEOPLE[error.code] ?? error.hint)
  if (hint !== undefined) stderr.write(`${neutralise(asFlags(typedCalls(hint)))}\n`)
  if (error.code === "INVALID_ARGUMENTS") stderr.write(`'toolwright tools show ${tool.name}' lists the arguments.\n`)
}

/** Hints in place of those that tell a model how to go on. */
const FOR_PEOPLE: Readonly<Record<string, string>> = {
  PERMISSION_DENIED: "The configuration denies it: 'toolwright config' shows by which setting, and where that stands.",
}

/** What a model is told of a call that needs a person, to that person. */
function permitting(hint: string | undefined): string | undefined {
  return hint?.replace(/^Go on without this call[^.]*\.(?: A person can permit it)?/, "You can permit it")
}

/** Calls in a hint as a model would write them, at the end of a line or sentence, as what is to be typed. */
function typedCalls(hint: string): string {
  return hint.replace(
    /(\bcall )?\{"name":"(\w+)","arguments":(\{.*\})\}(?=\.?$)/gm,
    (whole, call: string | undefined, name: string, args: string) =>
      isJson(args)
        ? `${call === undefined ? "" : "type "}toolwright tools call ${name} --args ${shellQuoted(args)}`
        : whole,
  )
}

function find(toolwright: Assembled, name: string): ToolDefinition {
  const split = toolwright.registry.view({ splitActions: true })
  const tool = toolwright.registry.get(name) ?? split.get(name)
  if (tool !== undefined) return tool
  const names = [...toolwright.registry.list(), ...split.list()].map((each) => each.name)
  const [near] = nearest(name, new Set(names))
  throw usageError(
    `There is no tool '${name}'.`,
    near === undefined
      ? "'toolwright tools list' lists them; --tools <file or folder> adds your own."
      : `Did you mean '${near}'?`,
  )
}

/** Where the first word stands that is neither an option of the command nor its value. */
function nameIndex(args: readonly string[]): number {
  let at = 0
  while (at < args.length && args[at]!.startsWith("-")) {
    const option = OPTIONS[args[at]!.replace(/^--/, "") as keyof typeof OPTIONS]
    at += option?.type === "string" ? 2 : 1
  }
  return at
}

/** The workspace's options among a tool's arguments: the tools are made before the arguments can be read. */
function workspaceValues(args: readonly string[]): Values {
  const own: string[] = []
  for (let at = 0; at < args.length; at++) {
    if (args[at] === "--") break
    const [, name, value] = /^--(?:no-)?([\w-]+)(=.*)?$/s.exec(args[at]!) ?? []
    if (name === undefined || !Object.hasOwn(WORKSPACE_OPTIONS, name)) continue
    own.push(args[at]!)
    const next = args[at + 1]
    const { type } = WORKSPACE_OPTIONS[name as keyof typeof WORKSPACE_OPTIONS]
    const takesValue = type === "string" || /^(?:true|false)$/.test(next ?? "")
    if (takesValue && value === undefined && next !== undefined) own.push(args[++at]!)
  }
  return parseOptions(own, OPTIONS).values
}

function secondsOf(text: string): number {
  const seconds = Number(text)
  if (!(seconds > 0)) throw usageError(`'--timeout ${text}' is no number of seconds above 0.`)
  return seconds
}
