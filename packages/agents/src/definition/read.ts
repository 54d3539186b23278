import {
  describeFault,
  explain,
  inspect,
  nearest,
  schemaFault,
  ToolwrightError,
  type JsonSchema,
} from "@toolwright/toolbox"
import { AGENT_SCHEMA, type AgentDefinition, type PhaseDefinition } from "./definition.ts"

/** What an agent may be called: a word that can stand in a command and in a path. */
const NAME = /^[A-Za-z][\w-]{0,63}$/

/** @throws ToolwrightError `INVALID_AGENT` */
export function checkAgentName(name: string): void {
  if (NAME.test(name)) return
  throw new ToolwrightError("INVALID_AGENT", `'${name.slice(0, 80)}' cannot be the name of an agent.`, {
    hint: "Letters, digits, '_' and '-', beginning with a letter, 64 at most.",
  })
}

/**
 * Reads the definition of an agent; every mistake in it is told at once.
 *
 * @param where what it stands in, for the message
 * @throws ToolwrightError `INVALID_AGENT`
 */
export async function readAgentDefinition(name: string, value: unknown, where?: string): Promise<AgentDefinition> {
  checkAgentName(name)
  const definition = (value ?? {}) as AgentDefinition
  const found = await mistakesIn(AGENT_SCHEMA, definition)
  const mistakes = found.length === 0 ? mistakesInPhases(definition.phases ?? []) : found
  if (mistakes.length === 0) return definition
  const place = where === undefined ? "" : `${where}: `
  throw new ToolwrightError(
    "INVALID_AGENT",
    `${place}the agent '${name}' is not described as it should be:\n${mistakes.map((each) => `- ${each}`).join("\n")}`,
    { hint: "docs/agents.md tells what an agent is made of; 'toolwright new agent <name>' makes one that works." },
  )
}

/** What no schema says of phases: that their names differ, and that what they hand over are objects of a form. */
function mistakesInPhases(phases: readonly PhaseDefinition[]): string[] {
  return phases.flatMap(({ name, handsOver }, at) => {
    const schema = handsOver?.schema
    const fault = schema === undefined ? undefined : schemaFault(schema)
    const where = `phases[${at}]`
    return [
      ...(phases.findIndex((each) => each.name === name) < at ? [`${where}: another phase is called '${name}'`] : []),
      ...(schema !== undefined && schema.type !== "object"
        ? [`${where}.handsOver.schema: its type must be object, since its properties are the arguments of a call`]
        : []),
      ...(fault === undefined ? [] : [`${where}.handsOver.schema: ${describeFault(fault)}`]),
    ]
  })
}

/** One thing that is wrong with a value; its path is dotted, as `tasks.one.after[0]`. */
export interface Mistake {
  path: string
  message: string
}

/** What is wrong with a value, in words; an unknown key with the nearest one. */
export async function mistakesIn(schema: JsonSchema, value: unknown): Promise<string[]> {
  return (await issuesIn(schema, value)).map(saidOf)
}

/** A mistake on one line. */
export function saidOf({ path, message }: Mistake): string {
  return path === "" ? message : `${path}: ${message}`
}

/** As {@link mistakesIn}, each with its place. */
export async function issuesIn(schema: JsonSchema, value: unknown): Promise<Mistake[]> {
  let found
  try {
    found = await inspect(schema, value, { foreign: true })
  } catch (thrown) {
    if (!ToolwrightError.isInstance(thrown) || thrown.code !== "TOO_MUCH_TO_CHECK") throw thrown
    return [{ path: "", message: "is too large to be checked" }]
  }
  if (found.errors.length === 0) return []
  return explain(found)
    .issues.slice(0, 20)
    .map(({ path, message }) => ({ path, message: `${message}${suggestion(schema, saidOf({ path, message }))}` }))
}

function suggestion(schema: JsonSchema, line: string): string {
  const unknown = /(?:unknown|unexpected|additional)[^'`"]*['`"]([\w.-]+)['`"]/i.exec(line)?.[1]
  if (unknown === undefined) return ""
  const close = nearest(unknown.split(".").at(-1)!, keysOf(schema))[0]
  return close === undefined || line.includes(`'${close}'?`) ? "" : ` Did you mean '${close}'?`
}

function keysOf(schema: JsonSchema): string[] {
  const inner = [...Object.values(schema.properties ?? {}), ...(schema.anyOf ?? [])] as JsonSchema[]
  return [...new Set([...Object.keys(schema.properties ?? {}), ...inner.flatMap(keysOf)])]
}
