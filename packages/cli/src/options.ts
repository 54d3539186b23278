import { parseArgs, type ParseArgsConfig } from "node:util"
import { nearest, ToolwrightError } from "@toolwright/toolbox/errors"

/** One option of a command, e.g. `{ type: "string", value: "dir", multiple: true, description: "…" }`. */
export interface OptionDeclaration {
  readonly type: "string" | "boolean"
  readonly description: string
  /** What the value is called in the help. */
  readonly value?: string
  readonly short?: string
  /** Another name under which it is taken, where the command has no option of that name; the help leaves it out. */
  readonly also?: string
  readonly multiple?: boolean
  /** Many commands have it, and mean the same by it: `toolwright help options` tells of it once. */
  readonly common?: boolean
  /** The page that tells of it, where the help only names it: one screen has no room for what few need. */
  readonly page?: string
}

export type OptionDeclarations = Readonly<Record<string, OptionDeclaration>>

type ValueOf<Option extends OptionDeclaration> = Option extends { type: "boolean" }
  ? boolean
  : Option extends { multiple: true }
    ? string[]
    : string

/** The values of the options that were given; an option that was not given is undefined. */
export type OptionValues<Options extends OptionDeclarations> = { [Name in keyof Options]?: ValueOf<Options[Name]> }

export { nearest }

/** A wrong use of the command line; the exit code becomes 2. */
export function usageError(message: string, hint?: string): ToolwrightError {
  return new ToolwrightError("USAGE", message, hint === undefined ? {} : { hint })
}

/**
 * Parses a command's arguments. Everything after `--` is positional. Boolean options can be negated with `--no-`, and
 * take a value too: `--json=false`, `--json false`.
 *
 * @param args the arguments after the command's name
 * @param options the declared options
 * @param positionals how many positional arguments there may be (any number unless given), and what to say of an option
 *   that no other is near to
 * @throws ToolwrightError `USAGE`: unknown option (with the nearest one), value missing or not wanted, too many
 *   arguments
 */
export function parseOptions<const Options extends OptionDeclarations>(
  args: readonly string[],
  options: Options,
  positionals: { max?: number; known?: string } = {},
): { values: OptionValues<Options>; positionals: string[] } {
  const { tokens } = parseArgs({ args: [...args], options: asDeclared(options), strict: false, tokens: true })
  const values: Record<string, unknown> = Object.create(null)
  const rest: string[] = []
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!
    if (token.kind === "positional") rest.push(token.value)
    if (token.kind !== "option") continue
    const said = saidAfter(token, tokens[at + 1], options)
    if (said !== undefined) at++
    const { name, value } = readOption(
      said === undefined ? token : { ...token, value: said },
      options,
      positionals.known,
    )
    if (options[name]!.multiple === true) ((values[name] ??= []) as unknown[]).push(...each(options[name]!, value))
    else values[name] = value
  }
  if (positionals.max !== undefined && rest.length > positionals.max) {
    throw usageError(`Unexpected argument '${rest[positionals.max]}'.`, wayOut(options, positionals.max))
  }
  return { values: values as OptionValues<Options>, positionals: rest }
}

/** What has no comma, so that several may stand in one value: `--kits blog,database`. */
const COMMALESS: ReadonlySet<string | undefined> = new Set(["name", "pattern"])

/** The values that one value holds. */
function each({ value: kind }: OptionDeclaration, value: unknown): unknown[] {
  if (!COMMALESS.has(kind) || typeof value !== "string") return [value]
  const several = value
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "")
  return several.length === 0 ? [value] : several
}

function wayOut(options: OptionDeclarations, most: number): string {
  const ofFolders = most === 0 && options["root"] !== undefined
  return ofFolders
    ? "Folders are named by options: --root <dir>, or --read-only <dir>."
    : "Put text with spaces in quotes."
}

/** The options as Node's parser takes them, under every name that they have. */
function asDeclared(options: OptionDeclarations): NonNullable<ParseArgsConfig["options"]> {
  const config: NonNullable<ParseArgsConfig["options"]> = {}
  for (const [name, { type, short, also, multiple = false }] of Object.entries(options)) {
    config[name] = { type, multiple, ...(short === undefined ? {} : { short }) }
    if (also !== undefined && options[also] === undefined) config[also] = { type, multiple }
  }
  return config
}

/** The `true` or `false` that follows a boolean option as an argument of its own. */
function saidAfter(
  option: OptionToken,
  following: { kind: string; value?: string | undefined } | undefined,
  options: OptionDeclarations,
): string | undefined {
  if (option.value !== undefined || !isBoolean(option.name, options)) return undefined
  return following?.kind === "positional" && /^(?:true|false)$/.test(following.value ?? "")
    ? following.value
    : undefined
}

interface OptionToken {
  name: string
  rawName: string
  value?: string | undefined
  inlineValue?: boolean | undefined
}

const BOOLEANS: Readonly<Record<string, boolean>> = Object.assign(Object.create(null) as Record<string, boolean>, {
  true: true,
  yes: true,
  on: true,
  "1": true,
  false: false,
  no: false,
  off: false,
  "0": false,
})

/** Whether an option takes no value but true and false, under its own name or negated. */
function isBoolean(given: string, options: OptionDeclarations): boolean {
  const name = Object.hasOwn(options, given) ? given : given.replace(/^no-/, "")
  return Object.hasOwn(options, name) && options[name]!.type === "boolean"
}

function declaredName(given: string, options: OptionDeclarations): string {
  if (Object.hasOwn(options, given)) return given
  return Object.keys(options).find((name) => options[name]!.also === given) ?? given
}

function readOption(
  { name: given, rawName, value, inlineValue }: OptionToken,
  options: OptionDeclarations,
  known?: string,
): { name: string; value: unknown } {
  const negated = given.startsWith("no-") && options[given] === undefined ? given.slice(3) : undefined
  const name = declaredName(negated ?? given, options)
  const option = Object.hasOwn(options, name) ? options[name] : undefined
  if (option === undefined || (negated !== undefined && option.type !== "boolean")) {
    const [near] = nearest(given, Object.keys(options))
    throw usageError(`Unknown option '${rawName}'.`, near === undefined ? known : `Did you mean '--${near}'?`)
  }
  if (option.type !== "boolean") return { name, value: textOf(option, { rawName, value, inlineValue }) }
  const said = value === undefined ? true : BOOLEANS[value.toLowerCase()]
  if (said === undefined) throw usageError(`Option '${rawName}' is true or false, but '${value}' was given.`)
  return { name, value: negated === undefined ? said : !said }
}

/** The value of an option that takes one. */
function textOf(option: OptionDeclaration, { rawName, value, inlineValue }: Omit<OptionToken, "name">): string {
  if (value === undefined)
    throw usageError(`Option '${rawName}' needs a value: ${rawName} <${option.value ?? "value"}>.`)
  if (inlineValue !== true && /^-[^\d-]|^--./.test(value)) {
    throw usageError(
      `Option '${rawName}' needs a value, but '${value}' follows.`,
      `If that is the value, write ${rawName}=${value}.`,
    )
  }
  return value
}
