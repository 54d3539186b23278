import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import { messageOf, TEXT_ARGUMENT, textInputOf, type JsonObject, type ToolDefinition } from "@toolwright/toolbox"
import type { Invocation } from "../command.ts"
import {
  parseOptions,
  usageError,
  type OptionDeclaration,
  type OptionDeclarations,
  type OptionValues,
} from "../options.ts"
import { parametersOf, type Parameter } from "./parameters.ts"
import { argumentsFrom, argumentsObject } from "./values.ts"

/**
 * Splits the command line of a call into the command's own options and the tool's arguments. An own option goes before
 * an argument of the same name, which can still be given with `--args`.
 *
 * @param args what stands after the tool's name
 * @param own the command's options; `args` is among them
 */
export async function readCall<const Own extends OptionDeclarations>(
  tool: ToolDefinition,
  args: readonly string[],
  own: Own,
  invocation: Pick<Invocation, "stdin" | "cwd">,
): Promise<{ values: OptionValues<Own>; args: JsonObject }> {
  const parameters = parametersOf(tool).filter((parameter) => !Object.hasOwn(own, parameter.flag))
  const flags = Object.fromEntries(
    parameters.map((parameter): [string, OptionDeclaration] => [
      parameter.flag,
      {
        type: parameter.kind === "boolean" ? "boolean" : "string",
        multiple: true,
        description: "",
        value: parameter.kind,
      },
    ]),
  )
  // Names may be written as in the schema, and a boolean with its value.
  const spelt = args.map((arg) => {
    const match = /^--([A-Za-z][\w-]*)(=(?:.|\n)*)?$/.exec(arg)
    if (match === null) return arg
    const [, name, value = ""] = match
    const flag = name!.replaceAll("_", "-")
    const known = Object.hasOwn(own, name!) ? name! : flag
    if (flags[known]?.type === "boolean" && /^=(true|false)$/.test(value))
      return value === "=true" ? `--${known}` : `--no-${known}`
    return `--${known}${value}`
  })
  const { values, positionals } = parseOptions(spelt, { ...flags, ...own }, { max: 1, known: taken(tool, parameters) })
  const given = values as Record<string, (string | boolean)[] | string | undefined>
  const whole = typeof given.args === "string" ? given.args : positionals[0]
  const isText = textInputOf(tool.parameters) !== undefined
  if (isText && positionals[0] !== undefined && given.args === undefined) {
    const text = await wholeText(positionals[0], invocation)
    return { values: values as OptionValues<Own>, args: { [TEXT_ARGUMENT]: text } }
  }
  if (positionals.length > 0 && (whole !== positionals[0] || !/^[-@{]/.test(whole ?? ""))) {
    throw usageError(
      `Unexpected argument '${positionals[0]}'.`,
      `Arguments are flags: --${parameters[0]?.flag ?? "name"} <value>; 'toolwright tools show ` +
        `${tool.name}' lists them.`,
    )
  }
  const base = whole === undefined ? {} : await wholeArguments(whole, invocation)
  const fromFlags = argumentsFrom(
    parameters,
    Object.fromEntries(
      Object.keys(flags).flatMap((flag) => (given[flag] === undefined ? [] : [[flag, given[flag] as string[]]])),
    ),
  )
  return { values: values as OptionValues<Own>, args: { ...base, ...fromFlags } }
}

/** What a tool takes, for whoever guessed. */
function taken({ name }: ToolDefinition, parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return `'${name}' takes no arguments.`
  const asked = parameters.toSorted((a, b) => Number(b.required) - Number(a.required))
  const flags = asked.slice(0, MOST_NAMED).map(({ flag }) => `--${flag}`)
  return `'${name}' takes ${flags.join(", ")}${parameters.length > MOST_NAMED ? ", …" : ""}.`
}

const MOST_NAMED = 12

type Source = Pick<Invocation, "stdin" | "cwd">

async function wholeArguments(text: string, source: Source): Promise<JsonObject> {
  const name = text === "-" ? "standard input" : text.startsWith("@") ? text.slice(1) : "--args"
  return argumentsObject(await wholeText(text, source), name)
}

/** A text as it stands on the command line, of a file (`@file`), or from standard input (`-`). */
async function wholeText(text: string, { stdin, cwd }: Source): Promise<string> {
  if (text === "-") return readAll(stdin)
  if (!text.startsWith("@")) return text
  const file = text.slice(1)
  try {
    return await readFile(resolve(cwd, file), "utf8")
  } catch (error) {
    throw usageError(`The file '${file}' cannot be read: ${messageOf(error)}`)
  }
}

/** All of standard input as text. */
export async function readAll(stdin: Invocation["stdin"]): Promise<string> {
  const decoder = new TextDecoder()
  let text = ""
  for await (const piece of stdin) text += typeof piece === "string" ? piece : decoder.decode(piece, { stream: true })
  return text + decoder.decode()
}
