import { faultInFields } from "./define-fields.ts"
import { ToolwrightError } from "./model/errors.ts"
import type { ArgumentsFrom, FromSchema, LiteralSchema } from "./model/from-schema.ts"
import { hideGrounded } from "./model/grounded.ts"
import { isToolResult, success, type ToolFailure, type ToolResult, type ToolSuccess } from "./model/result.ts"
import type { JsonObject, JsonSchema } from "./model/schema.ts"
import { describeFault, schemaFault } from "./model/schema-fault.ts"
import { checkTextInput, TEXT_ARGUMENT, textParameters, type TextInput } from "./model/text-input.ts"
import {
  OPTIONALITIES,
  TOOL_CATEGORIES,
  type Optionality,
  type ToolCategory,
  type ToolContext,
  type ToolDefinition,
  type ToolEffects,
  type TypedTool,
} from "./model/tool.ts"
import { nearest } from "./nearest.ts"
import { isStandardSchema, parseWith, toJsonSchema, type StandardSchema } from "./standard-schema.ts"

/**
 * A tool as its author writes it; see {@link ToolDefinition} for the meaning of the fields that are kept as they are.
 */
export interface ToolSpecification<Args> extends Omit<
  ToolDefinition,
  "category" | "optionality" | "parameters" | "outputSchema" | "handler"
> {
  /** `utility` unless given. */
  category?: ToolCategory
  /** `optional` unless given. */
  optionality?: Optionality
  /** The arguments: JSON Schema, or any Standard Schema that yields JSON Schema (Zod 4, ArkType, Valibot, …). */
  parameters: JsonSchema | StandardSchema<unknown, Args>
  /** The shape of the result's `data`, likewise. */
  outputSchema?: JsonSchema | StandardSchema
  /** Runs one call. Return a {@link ToolResult}, or plain data, which becomes the `data` of a success. */
  execute(args: Args, context: ToolContext): unknown
}

/**
 * What `execute` gives, now or later: its data, or a result with them. The compiler checks both, and so does the run.
 */
type Returned<Data> = unknown extends Data ? unknown : Data | ToolResult<Data> | Promise<Data | ToolResult<Data>>

/** A tool with the types that its schemas say, be they Standard Schemas or literals of JSON Schema. */
export interface TypedSpecification<Parameters, Output, Name extends string = string> extends Omit<
  ToolSpecification<unknown>,
  "name" | "parameters" | "outputSchema" | "execute"
> {
  name: Name
  parameters: Parameters
  outputSchema?: Output | undefined
  execute(args: ArgumentsOf<Parameters>, context: ToolContext): Returned<DataOf<Output>>
}

/** A tool whose input is one text, under a grammar where that has one. */
export interface TextSpecification<Name extends string, Result> extends Omit<
  ToolSpecification<unknown>,
  "name" | "parameters" | "outputSchema" | "execute"
> {
  name: Name
  /** What the text has to be: `grammar.lark("…")`, `.regex`, `.gbnf`, or `grammar.text`. */
  input: TextInput
  parameters?: undefined
  outputSchema?: JsonSchema | StandardSchema
  /** Runs one call, which has the text as its model wrote it, checked by the grammar. */
  execute(text: string, context: ToolContext): Result
}

/** The same without a promise of what comes out: that is what `execute` gives. */
interface WithoutPromise<Parameters, Name extends string, Result> extends Omit<
  TypedSpecification<Parameters, unknown, Name>,
  "outputSchema" | "execute"
> {
  outputSchema?: undefined
  execute(args: ArgumentsOf<Parameters>, context: ToolContext): Result
}

/** The same where `execute` gives results whose data nobody told the compiler: these are compared when it runs. */
type UntoldSpecification<Parameters, Output, Name extends string, Result> = Omit<
  TypedSpecification<Parameters, Output, Name>,
  "execute"
> & {
  outputSchema: Output
  execute(args: ArgumentsOf<Parameters>, context: ToolContext): Result
} & (unknown extends DataIn<Awaited<Result>> ? unknown : { execute: never })

/** The data of a success, of what `execute` gives. */
type DataIn<Value> = Value extends ToolSuccess<infer Data> ? Data : Value extends ToolFailure ? never : Value

/** The arguments as a call gives them, before a Standard Schema makes its values of them. */
type GivenTo<Schema> = Schema extends StandardSchema<infer Given, unknown> ? Given : ArgumentsFrom<Schema>

type ArgumentsOf<Schema> = Schema extends StandardSchema<unknown, infer Args> ? Args : ArgumentsFrom<Schema>
/** The values that a schema stands for: those that a Standard Schema makes, or what the literals of JSON Schema say. */
export type DataOf<Schema> = Schema extends StandardSchema<unknown, infer Data> ? Data : FromSchema<Schema>

/**
 * Defines a tool: checks its name and category, converts its schemas to JSON Schema once, and wraps `execute` into a
 * handler.
 *
 * @param specification the tool; the compiler reads its schemas, Standard Schemas and literals alike: `execute` gets
 *   typed arguments (parsed ones of a Standard Schema) and has to give the data that `outputSchema` promises
 * @returns the canonical definition, ready for `ToolRegistry.register`
 * @throws ToolwrightError `INVALID_TOOL` when the name is empty or malformed, the category or optionality is unknown,
 *   or the parameters are malformed or no object schema
 * @example
 * const add = defineTool({
 *   name: "add",
 *   description: "Adds two numbers",
 *   parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
 *   execute: ({ a, b }) => a + b,
 * })
 */
export function defineTool<const Name extends string, Result>(
  specification: TextSpecification<Name, Result>,
): TypedTool<Name, { [TEXT_ARGUMENT]: string }, DataIn<Awaited<Result>>>
export function defineTool<
  const Name extends string,
  const Parameters extends LiteralSchema | StandardSchema<unknown, unknown>,
  Result,
>(
  specification: WithoutPromise<Parameters, Name, Result>,
): TypedTool<Name, GivenTo<Parameters>, DataIn<Awaited<Result>>>
export function defineTool<
  const Name extends string,
  const Parameters extends LiteralSchema | StandardSchema<unknown, unknown>,
  const Output extends LiteralSchema | StandardSchema,
  Result,
>(
  specification: UntoldSpecification<Parameters, Output, Name, Result>,
): TypedTool<Name, GivenTo<Parameters>, DataOf<Output>>
export function defineTool<
  const Name extends string,
  const Parameters extends LiteralSchema | StandardSchema<unknown, unknown>,
  const Output extends LiteralSchema | StandardSchema,
>(specification: TypedSpecification<Parameters, Output, Name>): TypedTool<Name, GivenTo<Parameters>, DataOf<Output>>
export function defineTool<Args = JsonObject>(
  specification: ToolSpecification<Args> | TextSpecification<string, unknown>,
): ToolDefinition {
  if ("input" in specification) return defineTool(withParameters(specification))
  const { parameters, outputSchema, execute, category = "utility", optionality = "optional", ...rest } = specification
  check(specification, category, optionality)
  const parser = isStandardSchema(parameters) ? parameters : undefined
  return {
    ...rest,
    category,
    optionality,
    parameters: hideGrounded(objectSchema(specification.name, toJsonSchema(parameters, "input"))),
    ...(outputSchema === undefined ? {} : { outputSchema: toJsonSchema(outputSchema, "output") }),
    async handler(args: JsonObject, context: ToolContext): Promise<ToolResult> {
      const parsed = parser === undefined ? (args as Args) : await parseWith(parser, args)
      const value = await execute(parsed, context)
      return isToolResult(value) ? value : success({ data: value })
    },
  }
}

/** A tool of one text, as a tool of one argument. @throws ToolwrightError `INVALID_TOOL` */
function withParameters({
  input,
  parameters,
  execute,
  ...rest
}: TextSpecification<string, unknown>): ToolSpecification<JsonObject> {
  checkTextInput(rest.name, input)
  if (parameters !== undefined)
    throw new ToolwrightError("INVALID_TOOL", `Tool '${rest.name}': it has both parameters and an input.`, {
      hint: "Leave out the parameters: the input is its one argument.",
    })
  return {
    ...rest,
    parameters: textParameters(input),
    execute: (args, context) => execute(String(args[TEXT_ARGUMENT]), context),
  }
}

/** A tool of the oldest shape: a name, a description, and a function. */
export interface MinimalTool {
  name(): string
  description(): string
  execute(args: JsonObject, context: ToolContext): unknown
  /** What newer tools add; during a transition it may be absent or return nothing. */
  metadata?(): Partial<Omit<ToolDefinition, "name" | "description" | "handler">> | undefined
}

/** Wraps a {@link MinimalTool}, so that old tools register beside new ones. Without a schema any object is accepted. */
export function wrapMinimalTool(tool: MinimalTool): ToolDefinition {
  const { parameters, outputSchema, ...metadata } = tool.metadata?.() ?? {}
  return defineTool({
    ...metadata,
    name: tool.name(),
    description: tool.description(),
    parameters: parameters ?? { type: "object", additionalProperties: true },
    ...(outputSchema === undefined ? {} : { outputSchema }),
    execute: (args, context) => tool.execute(args, context),
  })
}

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/

function check(specification: { name: string; tags?: readonly string[] }, category: string, optionality: string): void {
  const { name } = specification
  if (typeof name !== "string" || name === "")
    throw new ToolwrightError("INVALID_TOOL", "A tool needs a name.", {
      hint: 'Write it into the tool, as in defineTool({ name: "get_forecast", … }): lists of tools have no keys.',
    })
  const wrong = (message: string, hint?: string) =>
    new ToolwrightError("INVALID_TOOL", `Tool '${name}': ${message}`, hint === undefined ? {} : { hint })
  if (!NAME.test(name)) {
    throw wrong("the name must begin with a letter and hold only letters, digits, '_', '-', '.', at most 128 in all.")
  }
  const fault = faultInEffects(specification) ?? faultInFields(specification)
  if (fault !== undefined) throw wrong(fault.message, fault.hint)
  const tag = specification.tags?.find((one) => !TAG.test(one))
  if (tag !== undefined) throw wrong(`'${tag.slice(0, 50)}' is no tag.`, "Tags hold small letters, digits and '-'.")
  if (!(TOOL_CATEGORIES as readonly string[]).includes(category)) {
    throw wrong(`unknown category '${category}'.`, `Use one of: ${TOOL_CATEGORIES.join(", ")}.`)
  }
  if (!(OPTIONALITIES as readonly string[]).includes(optionality)) {
    throw wrong(`unknown optionality '${optionality}'.`, `Use one of: ${OPTIONALITIES.join(", ")}.`)
  }
}

const SELECTORS = 'a list of arguments that hold paths, as in ["path", "edits[].path"]'
const FLAG = "true or false"
const EFFECTS: Readonly<Record<keyof ToolEffects, string>> = {
  readOnly: FLAG,
  destructive: FLAG,
  idempotent: FLAG,
  keyed: FLAG,
  network: FLAG,
  reads: SELECTORS,
  writes: SELECTORS,
}

/**
 * Why the effects are none. Rules, caches and path checks act on them, so a misspelt one would be a rule that never
 * holds, and nobody would see it.
 */
function faultInEffects(specification: object): { message: string; hint: string } | undefined {
  const astray = Object.keys(EFFECTS).find((key) => Object.hasOwn(specification, key))
  if (astray !== undefined)
    return { message: `'${astray}' is one of its effects.`, hint: `Write effects: { ${astray}: … }.` }
  const { effects } = specification as { effects?: unknown }
  if (effects === undefined) return undefined
  if (typeof effects !== "object" || effects === null || Array.isArray(effects))
    return { message: "its effects are no object.", hint: "Write, for example, effects: { readOnly: true }." }
  for (const [key, value] of Object.entries(effects)) {
    if (!Object.hasOwn(EFFECTS, key)) {
      const close = nearest(key, Object.keys(EFFECTS))[0]
      const meant = close === undefined ? "" : `Did you mean '${close}'? `
      return {
        message: `there is no effect '${key.slice(0, 50)}'.`,
        hint: `${meant}Effects are ${Object.keys(EFFECTS).join(", ")}.`,
      }
    }
    const wanted = EFFECTS[key as keyof ToolEffects]
    const fits = wanted === FLAG ? typeof value === "boolean" : isTexts(value)
    if (value !== undefined && !fits)
      return { message: `its effect '${key}' is not understood.`, hint: `It is ${wanted}.` }
  }
  return undefined
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === "string" && each !== "")

/** What a tag may be: it stands in addresses, settings and metrics. */
export const TAG = /^[a-z0-9][a-z0-9-]*[a-z0-9]$/

function objectSchema(name: string, schema: JsonSchema): JsonSchema {
  const fault = schemaFault(schema)
  if (fault !== undefined)
    throw new ToolwrightError("INVALID_TOOL", `Tool '${name}': its input is no JSON Schema: ${describeFault(fault)}.`)
  if (schema.type === "object") return schema
  if (schema.type === undefined) return { type: "object", ...schema }
  throw new ToolwrightError(
    "INVALID_TOOL",
    `Tool '${name}': its input must be an object schema, not ${String(schema.type)}.`,
  )
}
