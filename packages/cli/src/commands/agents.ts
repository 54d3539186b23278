import { resolve } from "node:path"
import type { AgentAccess, AgentDefinition, AgentProfile, AgentView } from "@toolwright/runtime"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, usageError, type OptionDeclarations, type OptionValues } from "../options.ts"
import { neutralise } from "../render/neutralise.ts"
import { listed, widthOf } from "../render/room.ts"
import { oneLine } from "../render/short.ts"
import { configurationFor, WORKSPACE_OPTIONS } from "../settings-options.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  file: {
    type: "string",
    multiple: true,
    value: "path",
    description: "Of create: file that it owns, and no other agent",
  },
  from: { type: "string", value: "agent", description: "Of create: the agent that it starts from (file-owner)" },
  prompt: { type: "string", value: "text", description: "Of create: what it is and how it works" },
  definition: { type: "string", value: "file", description: "Of create: a YAML file that describes it" },
  json: { type: "boolean", description: "Print JSON" },
  ...WORKSPACE_OPTIONS,
} as const satisfies OptionDeclarations

type Values = OptionValues<typeof OPTIONS>

export const agentsCommand: Command = {
  name: "agents",
  summary: "Make agents that own files, list all agents, show or remove one",
  usage: usageText({
    synopsis: [
      "agents [list] [options]",
      "agents create <name> --file <path> [options]",
      "agents show|remove <name> [options]",
    ],
    description:
      "An agent that owns files writes these and no others, and no second agent can own them. Tasks are given to " +
      "it by its name.",
    options: OPTIONS,
    examples: [
      { line: "toolwright agents create AreaAgent --file src/area.py", does: "Made by name, the owner of one file" },
      { line: 'toolwright tasks add "add a circle" --agent AreaAgent', does: "A task for it" },
    ],
  }),
  async run(invocation) {
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 2 })
    const [action = "list", name] = positionals
    const run = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined
    if (run === undefined)
      throw usageError(`'agents ${action}' is not known.`, `Use one of: ${Object.keys(ACTIONS).join(", ")}.`)
    const [{ tasksFor }, { agentsFor }, { configuration }] = await Promise.all([
      import("@toolwright/runtime/tasks"),
      import("@toolwright/runtime"),
      configurationFor(invocation, values),
    ])
    const tasks = tasksFor(configuration, invocation)
    try {
      const agents = await agentsFor(configuration, { cwd: invocation.cwd, tasks })
      return await run({ invocation, values, agents, name })
    } finally {
      await tasks.close()
    }
  },
}

interface Asked {
  invocation: Invocation
  values: Values
  agents: AgentAccess
  name: string | undefined
}

const ACTIONS: Readonly<Record<string, (asked: Asked) => Promise<number>>> = { list, create, show, remove }

async function list({ invocation, values, agents }: Asked): Promise<number> {
  const all = await agents.list()
  if (values.json === true) printJson(invocation, all)
  else for (const line of linesOf(all, invocation)) invocation.stdout.write(`${line}\n`)
  return EXIT.success
}

async function create({ invocation, values, agents, name }: Asked): Promise<number> {
  const { file, from, prompt } = values
  const described =
    values.definition === undefined ? {} : await definitionIn(resolve(invocation.cwd, values.definition))
  const view = await agents.create({
    ...described,
    name: named(name),
    ...(file === undefined ? {} : { files: file }),
    ...(from === undefined ? {} : { from }),
    ...(prompt === undefined ? {} : { prompt }),
  })
  if (values.json === true) printJson(invocation, view)
  else {
    invocation.stdout.write(`${linesOf([view], invocation).join("\n")}\n`)
    invocation.stdout.write(`give it a task: toolwright tasks add "…" --agent ${view.name}\n`)
  }
  return EXIT.success
}

async function show({ invocation, values, agents, name }: Asked): Promise<number> {
  const asked = named(name)
  const [view, profile] = await Promise.all([agents.show(asked), agents.find(asked)])
  const tools = await toolsOf(invocation, values, profile)
  if (values.json === true) {
    printJson(invocation, { ...view, tools })
    return EXIT.success
  }
  const facts: [string, string | undefined][] = [
    ["what", view.description],
    ["from", view.from],
    ["changes", changesOf(view)],
    ["owns", view.files?.join(", ")],
    ["rounds", profile.maxRounds === undefined ? undefined : String(profile.maxRounds)],
    ["asks", profile.agents?.join(", ")],
    ["tools", filled(tools.length === 0 ? ["none"] : tools)],
    ["phases", profile.phases?.map(phaseLine).join("\n")],
    ["prompt", profile.systemPrompt],
  ]
  invocation.stdout.write(`${view.name} (${view.kind})\n`)
  for (const [fact, value] of facts)
    if (value !== undefined && value !== "")
      invocation.stdout.write(`  ${fact.padEnd(9)}${neutralise(value.replaceAll("\n", `\n${" ".repeat(11)}`))}\n`)
  return EXIT.success
}

/** The names of what it is offered here: its own tools, those of servers, and the built-in ones that can run. */
async function toolsOf(invocation: Invocation, values: Values, profile: AgentProfile): Promise<string[]> {
  const { cwd, env, stderr } = invocation
  const [{ createToolwright }, { configuration }] = await Promise.all([
    import("@toolwright/runtime"),
    configurationFor(invocation, values),
  ])
  const log = (line: string): void => void stderr.write(`${neutralise(line)}\n`)
  await using toolwright = await createToolwright({ ...configuration, withBuiltins: true, cwd, env, log })
  // The model that stands in where none is configured is not what an agent is made for.
  const paired = configuration.model?.backend !== undefined
  return toolwright
    .toolsFor(profile, { paired })
    .list()
    .map(({ name }) => name)
}

/** Words with commas between them, on lines that a terminal holds. */
function filled(words: readonly string[]): string {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < 84) lines[lines.length - 1] = `${last}, ${word}`
    else lines.push(word)
  }
  return lines.join(",\n")
}

function phaseLine(phase: NonNullable<AgentProfile["phases"]>[number]): string {
  const { name, maxRounds, readOnly, handsOver, judgedBy } = phase
  const judges = Object.values(judgedBy ?? {})
  const facts = [
    ...(maxRounds === undefined ? [] : [`${maxRounds} rounds`]),
    ...(readOnly === true ? ["reads"] : []),
    ...(handsOver === undefined ? [] : [`hands over ${handsOver.artifact ?? name}`]),
    ...(judges.length === 0 ? [] : [`judged by ${judges.join(" and ")}`]),
  ]
  return facts.length === 0 ? name : `${name} (${facts.join(", ")})`
}

async function remove({ invocation, values, agents, name }: Asked): Promise<number> {
  const view = await agents.remove(named(name))
  if (values.json === true) printJson(invocation, view)
  else {
    const files = view.files ?? []
    const free = files.length === 0 ? "" : `; ${files.join(", ")} ${files.length === 1 ? "is" : "are"} free again`
    invocation.stdout.write(`removed ${view.name}${free}\n`)
  }
  return EXIT.success
}

async function definitionIn(path: string): Promise<AgentDefinition> {
  const { readAgentFile } = await import("@toolwright/runtime")
  const { name: _name, ...definition } = await readAgentFile(path)
  return definition
}

function linesOf(views: readonly AgentView[], world: Pick<Invocation, "stdout" | "isTTY">): string[] {
  const [names, kinds, changes] = [
    widthOf(views.map(({ name }) => name)),
    widthOf(views.map(({ kind }) => kind)),
    widthOf(views.map(changesOf)),
  ]
  return views.flatMap((view) => {
    const { name, kind, description, files = [] } = view
    const what = files.length > 0 ? `owns ${files.join(", ")}` : description
    const left = `${name.padEnd(names)}  ${kind.padEnd(kinds)}  ${changesOf(view).padEnd(changes)}  `
    return listed({ left, text: oneLine(what, 200) }, world)
  })
}

function changesOf({ changesWorkspace, ownsFiles }: AgentView): string {
  if (ownsFiles) return "its own files"
  return changesWorkspace ? "the workspace" : "nothing"
}

function named(name: string | undefined): string {
  if (name === undefined) throw usageError("Which agent?", "Give its name; 'toolwright agents' lists them.")
  return name
}

function printJson({ stdout }: Invocation, value: unknown): void {
  stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}
