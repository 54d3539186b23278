import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import { createInterface } from "node:readline"
import { Readable } from "node:stream"
import { messageOf, ToolwrightError, type TextInput } from "@toolwright/toolbox"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, usageError, type OptionDeclarations } from "../options.ts"
import { usageText } from "../usage.ts"

type Logits = typeof import("@toolwright/logits")
type SchemaOptions = NonNullable<Parameters<Logits["compileSchema"]>[1]>

const OPTIONS = {
  format: {
    type: "string",
    value: "gbnf|summary",
    description: "What to print for a schema: the grammar (the default), or what became of each keyword",
  },
  relaxed: { type: "boolean", description: "Leave out what cannot be expressed, and list it" },
  formats: {
    type: "string",
    value: "assert|annotate",
    description: "Whether the keyword format is checked, where the schema's dialect leaves it open",
  },
  text: {
    type: "string",
    value: "file",
    description: "Of check: a text, to see where it leaves the grammar",
  },
  jsonl: {
    type: "boolean",
    description: "Of check: read schemas with instances from standard input, one JSON object a line",
  },
} as const satisfies OptionDeclarations

export const grammarCommand: Command = {
  name: "grammar",
  summary: "Turn a JSON Schema into a grammar, or check grammars and instances",
  usage: usageText({
    synopsis: [
      "grammar <schema.json|-> [options]",
      "grammar check <grammar.gbnf|grammar.lark|->",
      "grammar check --jsonl [options]",
    ],
    description:
      "The grammar holds a model to the schema: every keyword is expressed exactly, or the schema is refused " +
      "with the keyword's path. 'check --jsonl' reads and answers one JSON object a line.",
    options: OPTIONS,
    examples: [
      { line: "toolwright grammar schema.json > schema.gbnf", does: "GBNF for llama.cpp" },
      {
        line: "toolwright grammar schema.json --format summary",
        does: "Whether the schema can be expressed, and if not, why",
      },
      { line: "toolwright grammar check schema.gbnf", does: "Mistakes in a GBNF file, with line and column" },
      { line: "toolwright grammar check patch.lark --text a.patch", does: "Where a text leaves a grammar" },
    ],
  }),
  details: `\`check --jsonl\` reads lines \`{"schema": <JSON text>, "instances": [<JSON text>, …]}\` and answers each
with one line \`{"status": "exact"|"refused"|"relaxed", "reasons": […], "accepted": [true|false, …]}\`.`,
  async run(invocation) {
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 2 })
    const options = schemaOptions(values)
    const [first, second] = positionals
    const logits = await import("@toolwright/logits")
    if (first === "check" && values.jsonl === true) return checkLines(invocation, logits, options)
    if (first === "check") return checkGrammar(invocation, logits, { file: second, text: values.text })
    if (first === undefined)
      throw usageError("Which schema?", "Give a file with a JSON Schema, or - for standard input.")
    return printSchema(invocation, logits, first, options, values.format ?? "gbnf")
  },
}

function schemaOptions({ relaxed, formats }: { relaxed?: boolean; formats?: string }): SchemaOptions {
  if (formats !== undefined && formats !== "assert" && formats !== "annotate")
    throw usageError(`'${formats}' is no choice for --formats.`, "Use assert or annotate.")
  return { ...(relaxed === true ? { relaxed } : {}), ...(formats === undefined ? {} : { formats }) }
}

async function printSchema(
  invocation: Invocation,
  logits: Logits,
  file: string,
  options: SchemaOptions,
  format: string,
): Promise<number> {
  const schema = parseSchema(await readInput(invocation, file), file)
  if (format === "summary") {
    const compiled = logits.compileSchema(schema, options)
    invocation.stdout.write(
      `${compiled.status}\n${compiled.reasons.map((reason) => `  ${describe(reason)}\n`).join("")}`,
    )
    return compiled.status === "refused" ? EXIT.failure : EXIT.success
  }
  if (format !== "gbnf") throw usageError(`'${format}' is no choice for --format.`, "Use gbnf or summary.")
  const grammar = logits.schemaToGrammar(schema, options)
  invocation.stdout.write(logits.grammarToGbnf(logits.lowerGrammar(grammar)))
  return EXIT.success
}

async function checkGrammar(
  invocation: Invocation,
  logits: Logits,
  { file, text }: { file: string | undefined; text: string | undefined },
): Promise<number> {
  if (file === undefined)
    throw usageError(
      "Which grammar?",
      "Give a file with GBNF or Lark, or --jsonl to check schemas and instances from standard input.",
    )
  const definition = await readInput(invocation, file)
  if (text !== undefined) return checkText(invocation, grammarIn(logits, file, definition), text)
  if (file.endsWith(".lark")) {
    grammarIn(logits, file, definition)
    invocation.stdout.write(`${file}: no mistakes\n`)
    return EXIT.success
  }
  const problems = logits.checkGbnf(definition)
  for (const problem of problems) invocation.stdout.write(`${file}: ${logits.describeGbnfProblem(problem)}\n`)
  if (problems.length === 0) invocation.stdout.write(`${file}: no mistakes\n`)
  return problems.some(({ severity }) => severity === "error") ? EXIT.failure : EXIT.success
}

/** A grammar of a text, by the end of its file's name. */
function grammarIn({ grammar }: Logits, file: string, definition: string): TextInput {
  return file.endsWith(".lark") ? grammar.lark(definition) : grammar.gbnf(definition)
}

async function checkText(invocation: Invocation, grammar: TextInput, file: string): Promise<number> {
  const fault = grammar.fault(await readInput(invocation, file))
  invocation.stdout.write(`${file}: ${fault ?? "in the grammar"}\n`)
  return fault === undefined ? EXIT.success : EXIT.failure
}

/** One answer a line, in the order of the questions; a line that is no question is answered as refused. */
async function checkLines(invocation: Invocation, logits: Logits, options: SchemaOptions): Promise<number> {
  const lines = createInterface({ input: Readable.from(invocation.stdin), crlfDelay: Infinity })
  for await (const line of lines) {
    if (invocation.signal.aborted) return EXIT.interrupted
    if (line.trim() !== "") invocation.stdout.write(`${JSON.stringify(answer(logits, line, options))}\n`)
  }
  return EXIT.success
}

interface Answer {
  readonly status: "exact" | "refused" | "relaxed"
  readonly reasons: readonly string[]
  readonly accepted: readonly boolean[]
}

function answer(logits: Logits, line: string, options: SchemaOptions): Answer {
  let question: { schema?: unknown; instances?: unknown }
  let schema: Parameters<Logits["compileSchema"]>[0]
  try {
    question = JSON.parse(line) as typeof question
    schema =
      typeof question.schema === "string" ? parseSchema(question.schema, "schema") : asSchema(question.schema, "schema")
  } catch (problem) {
    return { status: "refused", reasons: [messageOf(problem)], accepted: [] }
  }
  const instances = Array.isArray(question.instances)
    ? question.instances.map((text) => (typeof text === "string" ? text : JSON.stringify(text)))
    : []
  const refused = (reasons: readonly string[]): Answer => ({
    status: "refused",
    reasons,
    accepted: instances.map(() => false),
  })
  const compiled = logits.compileSchema(schema, options)
  const reasons = compiled.reasons.map(describe)
  if (compiled.grammar === undefined) return refused(reasons)
  try {
    const matcher = logits.createMatcher(compiled.grammar)
    const accepted = instances.map((text) => {
      matcher.reset()
      return matcher.accept(text) && matcher.isComplete()
    })
    return { status: compiled.status, reasons, accepted }
  } catch (problem) {
    // One schema that is too large to be followed does not end the batch.
    return refused([messageOf(problem)])
  }
}

const describe = ({ path, keyword, reason }: { path: string; keyword: string; reason: string }): string =>
  `${path} ${keyword}: ${reason}`

function parseSchema(text: string, name: string): Parameters<Logits["compileSchema"]>[0] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (problem) {
    throw new ToolwrightError("INVALID_SCHEMA", `${name} is not JSON: ${messageOf(problem)}.`, { cause: problem })
  }
  return asSchema(value, name)
}

function asSchema(value: unknown, name: string): Parameters<Logits["compileSchema"]>[0] {
  if (typeof value === "boolean" || (typeof value === "object" && value !== null && !Array.isArray(value)))
    return value as Parameters<Logits["compileSchema"]>[0]
  throw new ToolwrightError("INVALID_SCHEMA", `${name} is not a JSON Schema.`, {
    hint: "A schema is an object, true or false.",
  })
}

async function readInput({ stdin, cwd }: Invocation, file: string): Promise<string> {
  if (file !== "-") {
    try {
      return await readFile(resolve(cwd, file), "utf8")
    } catch (problem) {
      throw new ToolwrightError("FILE_NOT_READ", `'${file}' cannot be read: ${messageOf(problem)}.`, { cause: problem })
    }
  }
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString("utf8")
}
