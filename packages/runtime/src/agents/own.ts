import { resolve } from "node:path"
import {
  checkAgentName,
  profileFrom,
  PROFILES,
  readAgentDefinition,
  type AgentDefinition,
  type AgentProfile,
} from "@toolwright/agents"
import { messageOf, nearest, ToolwrightError } from "@toolwright/toolbox"
import type { Configuration } from "../configuration/settings.ts"
import { agentFilesIn, type AgentFile } from "./files.ts"

/** An agent that a user described, and where. */
interface Described {
  definition: AgentDefinition
  where: string
}

/**
 * The agents that a configuration describes, by name; each starts from a shipped one or from another of them.
 *
 * @throws ToolwrightError `INVALID_AGENT`, `INVALID_CONFIGURATION`, `UNKNOWN_AGENT`
 */
export async function ownAgents(
  { agents }: Pick<Configuration, "agents">,
  cwd: string,
): Promise<Map<string, AgentProfile>> {
  const described = new Map<string, Described>()
  const add = async (name: string, value: unknown, where: string): Promise<void> => {
    checkNew(name, where, described)
    described.set(name, { definition: await readAgentDefinition(name, value, where), where })
  }
  for (const [name, value] of Object.entries(agents.define ?? {})) await add(name, value, "agents.define")
  for (const file of (agents.files ?? []).flatMap((path) => agentFilesIn(resolve(cwd, path)))) {
    const { name = file.name, ...value } = await parsed(file)
    await add(String(name), value, file.path)
  }
  return resolved(described)
}

function checkNew(name: string, where: string, described: ReadonlyMap<string, Described>): void {
  checkAgentName(name)
  const other = PROFILES.some((profile) => profile.name === name) ? "a shipped agent" : described.get(name)?.where
  if (other === undefined) return
  throw new ToolwrightError("INVALID_AGENT", `${where}: the name '${name}' is taken by ${other}.`, {
    hint: `Give it another name, and start from that one: from: ${name}`,
  })
}

/** Reads the file of one agent. @throws ToolwrightError `INVALID_AGENT`, `INVALID_CONFIGURATION` */
export async function readAgentFile(path: string): Promise<AgentDefinition & { name?: string }> {
  const [file] = agentFilesIn(path)
  const { name = file!.name, ...value } = await parsed(file!)
  return { ...(await readAgentDefinition(String(name), value, path)), name: String(name) }
}

async function parsed({ path, text }: AgentFile): Promise<Record<string, unknown>> {
  const { parse } = await import("yaml")
  let value: unknown
  try {
    value = parse(text, { logLevel: "error", maxAliasCount: 100 })
  } catch (cause) {
    throw new ToolwrightError("INVALID_AGENT", `${path}: ${messageOf(cause).split("\n")[0]}`, { cause })
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new ToolwrightError("INVALID_AGENT", `${path}: it must be a mapping, such as 'description: …'.`)
}

function resolved(described: ReadonlyMap<string, Described>): Map<string, AgentProfile> {
  const found = new Map<string, AgentProfile>()
  const make = (name: string, asking: readonly string[]): AgentProfile => {
    const made = found.get(name) ?? PROFILES.find((profile) => profile.name === name)
    if (made !== undefined) return made
    const own = described.get(name)
    if (own === undefined) throw unknownBase(name, asking.at(-1)!, described)
    if (asking.includes(name)) {
      throw new ToolwrightError("INVALID_AGENT", `Agents start from each other: ${[...asking, name].join(" → ")}.`)
    }
    const base = make(own.definition.from ?? "assistant", [...asking, name])
    const profile = profileFrom(name, own.definition, base)
    found.set(name, profile)
    return profile
  }
  for (const name of described.keys()) make(name, [])
  return found
}

function unknownBase(name: string, asked: string, described: ReadonlyMap<string, Described>): ToolwrightError {
  const names = [...PROFILES.map((profile) => profile.name), ...described.keys()]
  const close = nearest(name, names)[0]
  return new ToolwrightError(
    "UNKNOWN_AGENT",
    `The agent '${asked}' starts from '${name}', and there is no such agent.`,
    {
      hint: close === undefined ? `There are ${names.join(", ")}.` : `Did you mean ${close}?`,
    },
  )
}
