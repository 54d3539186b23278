import type { Ajv, ErrorObject, Options, ValidateFunction } from "ajv"
import { canonicalJson } from "../cache/canonical.ts"
import { memory } from "../memory/memory.ts"
import { ToolwrightError, messageOf } from "../model/errors.ts"
import type { JsonSchema } from "../model/schema.ts"
import { patternEngine } from "./pattern.ts"
import { isPlainSchema } from "./plain-schema.ts"
import { isSimpleSchema, plainlyFits, withoutDraft } from "./plain-value.ts"
import { COUNTED, countReferences, countValues, traitsOf, type SchemaTraits } from "./schema-walk.ts"

/** What checking a value found. */
export interface Findings {
  errors: ErrorObject[]
  /** Whether `errors` are all there are; of a large value only the first is looked for. */
  complete: boolean
}

/** How a schema is checked. */
export interface ValidateOptions {
  /** The schema came from elsewhere, such as an MCP server; see `patternEngine`. */
  foreign?: boolean
}

/** Values in a schema at most: a larger one takes long to compile. */
const LARGEST_SCHEMA = 20_000
/** Values in a schema of which a validator is made that stops at the first error. */
const MOST_NODES_FOR_FIRST = 1000
/** Values in a schema times values that are checked by it, at most: that many steps take about a second. */
const MOST_STEPS = 100_000_000
/** The same for finding every error, each of which is an object of its own. */
const MOST_STEPS_FOR_ALL = 4_000_000
/** Errors behind references are copied once for each reference above them. */
const MOST_VALUES_FOR_ALL_BEHIND_REFERENCES = 2000
/**
 * References that are followed at most: references can name each other exponentially often, and a choice among them
 * keeps the errors of all.
 */
const mostReferences = (values: number): number => Math.min(200_000, 10_000 + 10 * values)

/** A compiler, with the references that its validators may still follow in the check under way. */
interface Compiler {
  readonly ajv: Ajv
  readonly budget: { left: number }
}

interface Validator {
  readonly validate: ValidateFunction
  readonly budget: Compiler["budget"]
}

interface Compiled {
  traits: SchemaTraits
  /** Stops at the first error. */
  first: Validator
  /** Finds all errors; compiled when there is one. */
  all: Validator | undefined
  foreign: boolean
}

/** What of a schema is compiled so far, and whether a value was checked against it without. */
const compiledOf = memory.derived((_schema: JsonSchema): { known?: Compiled; checked?: true } => ({}))

/**
 * What was compiled of schemas with the same text: tools that are defined anew for each run or request are few texts.
 */
const compiledByText = memory.latest<Promise<Compiled>>(128)
/** Characters of a schema that is looked for by its text. */
const LONGEST_TEXT = 8192

/**
 * Checks a value against a JSON Schema, every error at once as far as its size allows. See {@link inspect}.
 *
 * @returns the errors, none when the value is valid
 * @throws ToolwrightError as {@link inspect}
 */
export async function validate(
  schema: JsonSchema,
  value: unknown,
  options: ValidateOptions = {},
): Promise<ErrorObject[]> {
  return (await inspect(schema, value, options)).errors
}

/**
 * Checks a value against a JSON Schema in time that is linear in the value: patterns are run by a linear engine,
 * `uniqueItems` does not compare all with all, followed references are counted, and of a large value only the first
 * error is looked for. Ajv is loaded where the first value does not plainly fit or a second one comes, and each schema
 * is compiled once, a short one also where it comes as another object with the same text.
 *
 * @throws ToolwrightError `INVALID_SCHEMA` when the schema itself cannot be compiled; `TOO_MUCH_TO_CHECK` when the
 *   value is too large for it
 */
export async function inspect(schema: JsonSchema, value: unknown, options: ValidateOptions = {}): Promise<Findings> {
  if (firstFits(schema, value)) return { errors: [], complete: true }
  const known = compiledOf(schema).known ?? (await compileFirst(schema, options.foreign ?? false))
  const { nodes, references } = known.traits
  const values = valuesToCheck(value, nodes)
  if (values === undefined) throw tooMuch()
  if (isValid(known.first, value, values)) return { errors: [], complete: true }
  const few = !references || values <= MOST_VALUES_FOR_ALL_BEHIND_REFERENCES
  if (!few || values * nodes > MOST_STEPS_FOR_ALL) return { errors: known.first.validate.errors ?? [], complete: false }
  known.all ??= await compile(schema, { ...known, allErrors: true })
  return { errors: isValid(known.all, value, values) ? [] : (known.all.validate.errors ?? []), complete: true }
}

/** Whether this is the first value that is checked against a schema, and plainly meets it. */
function firstFits(schema: JsonSchema, value: unknown): boolean {
  const state = compiledOf(schema)
  if (state.known !== undefined || state.checked) return false
  state.checked = true
  const { nodes } = traitsOf(schema, LARGEST_SCHEMA)
  if (nodes > LARGEST_SCHEMA) return false
  const plain = withoutDraft(schema)
  if (!isPlainSchema(plain) || !isSimpleSchema(plain)) return false
  return valuesToCheck(value, nodes) !== undefined && plainlyFits(plain, value)
}

/**
 * Whether a value is known at once to meet a schema: one that was compiled before, in one check. Where it is not, that
 * says nothing: {@link inspect} does. Most calls are checked this way, and none of them has to wait.
 */
export function fitsAtOnce(schema: JsonSchema, value: unknown): boolean {
  const { known } = compiledOf(schema)
  if (known === undefined) return false
  const values = valuesToCheck(value, known.traits.nodes)
  return values !== undefined && isValid(known.first, value, values)
}

/** How many values there are to check; undefined where they are too many for a schema of so many values. */
function valuesToCheck(value: unknown, nodes: number): number | undefined {
  const values = countValues(value, Math.ceil(MOST_STEPS / nodes))
  return values * nodes < MOST_STEPS ? values : undefined
}

function isValid({ budget, validate }: Validator, value: unknown, values: number): boolean {
  budget.left = mostReferences(values)
  return validate(value) === true
}

function tooMuch(): ToolwrightError {
  return new ToolwrightError("TOO_MUCH_TO_CHECK", "The arguments are too large to be checked.", {
    hint: "Ask for less at once.",
  })
}

async function compileFirst(schema: JsonSchema, foreign: boolean): Promise<Compiled> {
  const text = textOf(schema)
  const made =
    text === undefined
      ? compileAnew(schema, foreign)
      : compiledByText.get(`${foreign} ${text}`, () => compileAnew(schema, foreign))
  return (compiledOf(schema).known = await made)
}

/** The schema's text, of one that has a short one. */
function textOf(schema: JsonSchema): string | undefined {
  try {
    const text = JSON.stringify(schema)
    return text.length <= LONGEST_TEXT ? text : undefined
  } catch {
    // Nested too deeply, or in a circle: compiling says which.
    return undefined
  }
}

async function compileAnew(schema: JsonSchema, foreign: boolean): Promise<Compiled> {
  const traits = traitsOf(schema, LARGEST_SCHEMA)
  if (traits.nodes > LARGEST_SCHEMA)
    throw new ToolwrightError("INVALID_SCHEMA", `The schema cannot be used: it has more than ${LARGEST_SCHEMA} values.`)
  // A validator that stops at the first error is nested as deep as there are properties, and may be too deep for Ajv.
  const first = await compile(schema, { traits, foreign, allErrors: traits.nodes > MOST_NODES_FOR_FIRST })
  return { traits, first, all: undefined, foreign }
}

interface CompileOptions {
  traits: SchemaTraits
  foreign: boolean
  allErrors: boolean
}

/**
 * Compiles a schema, as draft-07 where it says so or where 2020-12 cannot read it (an imported schema may be either).
 */
async function compile(schema: JsonSchema, options: CompileOptions): Promise<Validator> {
  const { $schema, $id: _id, ...rest } = schema
  const document = options.traits.references ? countReferences(rest) : rest
  const older = typeof $schema === "string" && /draft-0[467]/.test($schema)
  try {
    const engine = await compiler(older, options)
    // Ajv would first compile the rules for schemas, which takes longer than all that a command compiles besides.
    if (older || !isPlainSchema(rest)) engine.ajv.validateSchema(document, true)
    return compileWith(engine, document)
  } catch (cause) {
    try {
      const engine = await compiler(!older, options)
      engine.ajv.validateSchema(document, true)
      return compileWith(engine, document)
    } catch {
      const reason = messageOf(cause).slice(0, 1000)
      throw new ToolwrightError("INVALID_SCHEMA", `The schema cannot be used: ${reason}`, { cause })
    }
  }
}

/** Ajv keeps every schema that it compiled: here they go with the tools that they belong to. */
function compileWith({ ajv, budget }: Compiler, document: object): Validator {
  try {
    return { validate: ajv.compile(document), budget }
  } finally {
    ajv.removeSchema(document)
  }
}

const compilers = memory.latest<Promise<Compiler>>(16)

function compiler(older: boolean, options: CompileOptions): Promise<Compiler> {
  const name = `${older} ${options.allErrors} ${options.traits.patterns} ${options.foreign}`
  return compilers.get(name, () => makeCompiler(older, options))
}

async function makeCompiler(older: boolean, { traits, foreign, allErrors }: CompileOptions): Promise<Compiler> {
  const budget = { left: 0 }
  const options: Options = {
    allErrors,
    strict: false,
    validateFormats: false,
    verbose: true,
    logger: false,
    inlineRefs: false,
    validateSchema: false,
    code: {
      // Tidying what it writes takes as long as writing it, and V8 makes nothing more of it.
      optimize: false,
      ...(traits.patterns ? { regExp: (await patternEngine(!foreign)) as never } : {}),
    },
  }
  const ajv = older
    ? new (await import("ajv")).Ajv(options)
    : (new (await import("ajv/dist/2020.js")).Ajv2020(options) as Ajv)
  ajv.removeKeyword("uniqueItems")
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    validate: (wanted: boolean, items: unknown[]) => !wanted || new Set(items.map(canonicalJson)).size === items.length,
    errors: false,
    error: { message: "must not have an entry twice" },
  })
  ajv.addKeyword({
    keyword: COUNTED,
    before: "$ref",
    validate: () => {
      if (budget.left-- <= 0) throw tooMuch()
      return true
    },
    errors: false,
  })
  return { ajv, budget }
}
