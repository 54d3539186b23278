import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import type { ToolDefinition } from "@toolwright/toolbox"
import type { ParsedReply, SelectOptions, Selection } from "@toolwright/toolformat"
import { EXIT, type Command, type Invocation } from "../command.ts"
import {
  beginsInReasoning,
  inferredText,
  readSource,
  templateFormats,
  type TemplateFormats,
} from "../format-templates.ts"
import { neutralise } from "../render/neutralise.ts"
import { parseOptions, usageError, type OptionDeclarations } from "../options.ts"
import { ownFormat, tryFormat } from "../own-format.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  format: { type: "string", value: "id", description: "The format, by id or alias" },
  model: { type: "string", value: "name", description: "The model, whose name (and --template) says the format" },
  "format-file": { type: "string", value: "file", description: "A module with a format of your own" },
  template: {
    type: "string",
    value: "file",
    description: "The model's chat template (Jinja, GGUF, a server)",
  },
  tools: { type: "string", value: "file", description: "Tools as JSON: OpenAI, MCP, Anthropic or our form" },
  cut: {
    type: "string",
    value: "how",
    description: "Of parse: 'whole' (default), by 'char' or 'random:<seed>'",
  },
  jsonl: {
    type: "boolean",
    description: "Of parse: read and answer one JSON object a line",
  },
  events: { type: "boolean", description: "Of parse: print the events, one a line" },
  calls: {
    type: "string",
    value: "file",
    description: "Of render: print these calls as the family writes them",
  },
  messages: {
    type: "string",
    value: "file",
    description: "Of render: print this conversation as it is shown",
  },
  as: {
    type: "string",
    value: "gbnf|structural-tag|lark",
    description: "Of grammar: for llama.cpp (default), xgrammar or llguidance",
  },
  json: { type: "boolean", description: "Of list, show and infer: print JSON" },
} as const satisfies OptionDeclarations

type Values = ReturnType<typeof parseOptions<typeof OPTIONS>>["values"]

export const formatCommand: Command = {
  name: "format",
  summary: "Show how model families write tool calls, read a raw reply, render a prompt",
  usage: usageText({
    synopsis: [
      "format list [--json] | try <file.ts>",
      "format show <id> | --model <name> | --template <file>",
      "format infer <template> [--model <name>] [--json]",
      "format parse --format <id> | --model <name> | --template <file> < reply.txt",
      "format render|grammar --format <id> | --model <name> --tools <file>",
    ],
    description: "How a family of models is told about tools and writes calls: read, shown, or held by a grammar.",
    options: OPTIONS,
    examples: [{ line: "toolwright format parse --model mistral-small < reply.txt", does: "What is in this reply?" }],
  }),
  details: `\`parse\` prints \`{"calls", "content", "reasoning", "problems"}\`; nothing in the text makes it fail. With
\`--jsonl\` each line is \`{"format"|"model"|"template", "tools", "raw"}\`. \`--template\` takes a file in Jinja, a
tokenizer_config.json, a GGUF file or a server's address, and renders what \`--messages\` holds. \`infer\` derives a
format from a chat template alone, for models that no format is known of: it says how sure it is and what it could not
see, and its exit code is 0 where there is a format. \`--calls\` holds \`[{"name", "arguments"}]\`.`,
  async run(invocation) {
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 2 })
    const [action, id] = positionals
    if (action === undefined)
      throw usageError(
        "What about formats?",
        "Use 'format list', 'format show <id>', 'format infer <template>', 'format parse' or 'format render'.",
      )
    if (action === "try") return tryFormat(invocation, id)
    if (action === "infer") return infer(invocation, values, id)
    if (id !== undefined && action !== "show") {
      const reply = action === "parse" ? "The reply comes from standard input, '< reply.txt'. " : ""
      throw usageError(`Unexpected argument '${id}'.`, `${reply}The format is named with --format <id>.`)
    }
    if (action === "list") return list(invocation, values)
    if (action === "show") return show(invocation, id === undefined ? values : { ...values, format: id })
    if (action === "parse") return values.jsonl === true ? parseLines(invocation, values) : parseOne(invocation, values)
    if (action === "render") return render(invocation, values)
    if (action === "grammar") return printGrammar(invocation, values)
    throw usageError(`'format ${action}' is not known.`, "Use list, show, infer, parse, render or grammar.")
  },
}

async function list({ stdout }: Invocation, { json }: Values): Promise<number> {
  const { listFormats } = await import("@toolwright/toolformat")
  const formats = listFormats()
  if (json === true)
    stdout.write(
      `${JSON.stringify(
        formats.map(({ id, aliases, title }) => ({ id, aliases, title })),
        null,
        2,
      )}\n`,
    )
  else {
    const width = Math.max(...formats.map((format) => format.id.length))
    for (const { id, aliases, title } of formats)
      stdout.write(`${id.padEnd(width)}  ${title}${aliases.length > 0 ? ` (also: ${aliases.join(", ")})` : ""}\n`)
  }
  return EXIT.success
}

async function show(invocation: Invocation, values: Values): Promise<number> {
  const { formatterOf } = await import("@toolwright/toolformat")
  const { format, because } = await choose(invocation, values)
  const formatter = formatterOf(format)
  const example = [{ id: "call_0", name: "tool_name", arguments: { param: "value", count: 2 } }]
  const details = {
    id: format.id,
    aliases: format.aliases,
    title: format.title,
    because,
    native: formatter.supportsNativeToolUse(),
    stop: format.stop,
    reasoning: format.reasoning ?? null,
    call: format.apiOnly === undefined ? formatter.printCalls(example) : null,
    codecs: [...new Set(format.calls.map((syntax) => syntax.codec))],
  }
  if (values.json === true) {
    invocation.stdout.write(`${JSON.stringify(details, null, 2)}\n`)
    return EXIT.success
  }
  const { stdout } = invocation
  stdout.write(`${details.id}: ${details.title}\n${because}\n`)
  if (details.aliases.length > 0) stdout.write(`Other names: ${details.aliases.join(", ")}\n`)
  if (details.stop.length > 0) stdout.write(`Stops at: ${details.stop.join(" ")}\n`)
  if (format.reasoning !== undefined)
    stdout.write(`Reasoning between: ${format.reasoning.open[0] ?? ""} ${format.reasoning.close[0] ?? ""}\n`)
  stdout.write(
    details.call === null ? "Tools and calls travel in the API's own fields.\n" : `\nA call:\n${details.call}\n`,
  )
  return EXIT.success
}

async function infer(invocation: Invocation, values: Values, source = values.template): Promise<number> {
  if (source === undefined)
    throw usageError(
      "Which template?",
      "Name a file in Jinja, a tokenizer_config.json, a GGUF file, or a server: toolwright format infer " +
        "chat_template.jinja",
    )
  const { text, inferred } = await inferredText(invocation, source, {
    json: values.json === true,
    modelName: values.model,
  })
  invocation.stdout.write(neutralise(text))
  return inferred ? EXIT.success : EXIT.failure
}

async function parseOne(invocation: Invocation, values: Values): Promise<number> {
  const selection = await choose(invocation, values)
  const tools = values.tools === undefined ? [] : await readTools(invocation, values.tools)
  const raw = await readStdin(invocation)
  const { collectReply, cutText, formatterOf } = await import("@toolwright/toolformat")
  const parser = formatterOf(selection.format).createParser({
    tools,
    startsInReasoning: beginsInReasoning(selection, raw),
  })
  const events = cutText(raw, values.cut ?? "whole").flatMap((piece) => parser.push(piece))
  events.push(...parser.end())
  if (values.events === true) for (const event of events) invocation.stdout.write(`${JSON.stringify(event)}\n`)
  else invocation.stdout.write(`${JSON.stringify(resultOf(collectReply(events)), null, 2)}\n`)
  return EXIT.success
}

/** One line of output for each line of input, in order; a line that cannot be used is answered with its error. */
async function parseLines(invocation: Invocation, values: Values): Promise<number> {
  const { collectReply, cutText, formatterOf, toolsFromJson } = await import("@toolwright/toolformat")
  const { messageOf, ToolwrightError } = await import("@toolwright/toolbox")
  const shared = values.tools === undefined ? [] : await readTools(invocation, values.tools)
  const templates = templateFormats(invocation)
  let code: number = EXIT.success
  for await (const line of lines(invocation.stdin)) {
    if (line.trim() === "") continue
    try {
      const row = readLine(line)
      const selection = await selectionFor(row, values, { cwd: invocation.cwd, templates })
      const parser = formatterOf(selection.format).createParser({
        startsInReasoning: beginsInReasoning(selection, row.raw),
        tools: row.tools === undefined || row.tools === null ? shared : toolsFromJson(row.tools),
      })
      const events = cutText(row.raw, values.cut ?? "whole").flatMap((piece) => parser.push(piece))
      events.push(...parser.end())
      invocation.stdout.write(`${JSON.stringify(resultOf(collectReply(events)))}\n`)
    } catch (thrown) {
      code = EXIT.failure
      const error = ToolwrightError.isInstance(thrown)
        ? { code: thrown.code, message: thrown.message, hint: thrown.hint }
        : { code: "INVALID_LINE", message: messageOf(thrown) }
      invocation.stdout.write(`${JSON.stringify({ error })}\n`)
    }
  }
  return code
}

/** A line of `parse --jsonl`. */
interface Line {
  format?: string
  model?: string
  template?: string
  tools?: unknown
  raw: string
}

/** @throws ToolwrightError `USAGE` that says what of the line is not as it should be */
function readLine(line: string): Line {
  let row: unknown
  try {
    row = JSON.parse(line)
  } catch {
    row = undefined
  }
  if (typeof row !== "object" || row === null || Array.isArray(row))
    throw usageError("A line is no JSON object.", 'Write one a line: {"format": "hermes", "raw": "the reply"}')
  const { raw, ...rest } = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
  if (typeof raw !== "string") throw usageError("A line has no text as 'raw'.")
  for (const key of ["format", "model", "template"]) {
    const value = rest[key]
    if (value !== undefined && typeof value !== "string") throw usageError(`A line's '${key}' is no text.`)
  }
  return { ...rest, raw }
}

interface Surroundings {
  cwd: string
  templates: TemplateFormats
}

/** What a line says of its format goes before what the command's options say. */
async function selectionFor(row: Line, values: Values, { cwd, templates }: Surroundings): Promise<Selection> {
  const { selectFormat } = await import("@toolwright/toolformat")
  const own = row.format !== undefined || row.model !== undefined || row.template !== undefined
  const format = row.format ?? (own ? undefined : values.format)
  const model = row.model ?? values.model
  const file = own ? undefined : values["format-file"]
  if (file !== undefined) return ownFormat(cwd, file)
  const template = row.template ?? (own ? undefined : values.template)
  if (template !== undefined && format === undefined) return templates.select(template, model ?? "")
  const options = optionsOf({
    ...(format === undefined ? {} : { format }),
    ...(model === undefined ? {} : { model }),
  })
  return selectFormat(options.model, options)
}

async function render(invocation: Invocation, values: Values): Promise<number> {
  const { createChatTemplate, formatterOf, renderConversation } = await import("@toolwright/toolformat")
  const { format } = await choose(invocation, values)
  const formatter = formatterOf(format)
  const tools = values.tools === undefined ? [] : await readTools(invocation, values.tools)
  if (values.calls !== undefined) {
    invocation.stdout.write(`${formatter.printCalls(await readCalls(invocation, values.calls), tools)}\n`)
  } else if (values.messages !== undefined) {
    const messages = await readMessages(invocation, values.messages)
    if (values.template !== undefined) {
      const template = createChatTemplate((await readSource(invocation.cwd, values.template)).template, {
        fallback: formatter,
      })
      invocation.stdout.write(template.render({ messages, tools }))
    } else invocation.stdout.write(`${JSON.stringify(renderConversation(formatter, messages, tools), null, 2)}\n`)
  } else if (tools.length === 0) {
    throw usageError(
      "Render what?",
      "Give --tools <file> for the prompt's section on tools, --calls <file>, or --messages <file>.",
    )
  } else if (formatter.supportsNativeToolUse())
    invocation.stdout.write(`${JSON.stringify(formatter.formatToolsForAPI(tools), null, 2)}\n`)
  else invocation.stdout.write(formatter.formatToolsForPrompt(tools))
  return EXIT.success
}

/** What replies in a format are held to: text or calls of the tools. Tools that are left free are named on the side. */
async function printGrammar(invocation: Invocation, values: Values): Promise<number> {
  const { grammarText, structuralTagFor } = await import("@toolwright/toolformat")
  const { as = "gbnf", tools: file } = values
  if (as !== "gbnf" && as !== "structural-tag" && as !== "lark")
    throw usageError(`'${as}' is no choice for --as.`, "Use gbnf, structural-tag or lark.")
  if (file === undefined) throw usageError("A grammar of which tools?", "Give --tools <file>.")
  const tools = await readTools(invocation, file)
  const { format } = await choose(invocation, values)
  const made =
    as === "structural-tag" ? structuralTagFor(format, tools, { reasoning: true }) : grammarText(format, tools)
  if ("tag" in made) invocation.stdout.write(`${JSON.stringify(made.tag, null, 2)}\n`)
  else invocation.stdout.write(as === "lark" ? (await import("@toolwright/logits")).gbnfToLark(made.text) : made.text)
  for (const { tool, reason } of made.refused)
    invocation.stderr.write(`no grammar holds the arguments of ${neutralise(tool)}: ${neutralise(reason)}\n`)
  return EXIT.success
}

function resultOf({ calls, content, reasoning, problems }: ParsedReply): object {
  return {
    calls: calls.map(({ name, arguments: args, id }) => ({ name, arguments: args, id })),
    content,
    reasoning,
    problems,
  }
}

function optionsOf({ format, model }: Values): SelectOptions & { model: string } {
  if (format === undefined && model === undefined)
    throw usageError(
      "Which format?",
      "Give --format <id>, --format-file <file>, --model <name> or --template <file>; 'toolwright format " +
        "list' shows all.",
    )
  return { model: model ?? "", ...(format === undefined ? {} : { format }) }
}

async function choose(invocation: Invocation, values: Values): Promise<Selection> {
  const { selectFormat } = await import("@toolwright/toolformat")
  const own = values["format-file"]
  if (own !== undefined) return ownFormat(invocation.cwd, own)
  if (values.template !== undefined && values.format === undefined)
    return templateFormats(invocation).select(values.template, values.model ?? "")
  const options = optionsOf(values)
  return selectFormat(options.model, options)
}

async function readTools(invocation: Invocation, file: string): Promise<ToolDefinition[]> {
  const { toolsFromJson } = await import("@toolwright/toolformat")
  return toolsFromJson(await readJson(invocation, file))
}

async function readCalls(invocation: Invocation, file: string) {
  const value = await readJson(invocation, file)
  if (!Array.isArray(value)) throw usageError(`${file} holds no list of calls.`)
  return value.map((call: { name?: unknown; arguments?: unknown; args?: unknown; id?: unknown } | null, index) => {
    if (typeof call?.name !== "string") throw usageError(`Call ${index} in ${file} has no name.`)
    return {
      id: typeof call.id === "string" ? call.id : `call_${index}`,
      name: call.name,
      arguments: (call.arguments ?? call.args ?? {}) as Record<string, unknown>,
    }
  })
}

async function readMessages(invocation: Invocation, file: string) {
  const value = await readJson(invocation, file)
  if (!Array.isArray(value)) throw usageError(`${file} holds no list of messages.`)
  return value as Parameters<typeof import("@toolwright/toolformat").renderConversation>[1]
}

async function readJson(invocation: Invocation, file: string): Promise<unknown> {
  const text = await readText(invocation, file)
  try {
    return JSON.parse(text)
  } catch (thrown) {
    throw usageError(`${file} is not JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
  }
}

async function readText({ cwd }: Invocation, file: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, file), "utf8")
  } catch (thrown) {
    throw usageError(`${file} cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
  }
}

/** Lines by line feed alone: JSON text may hold other line separators. */
async function* lines(stdin: Invocation["stdin"]): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ""
  for await (const chunk of stdin) {
    const [head = "", ...more] = (typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true })).split(
      "\n",
    )
    rest += head
    for (const next of more) {
      yield rest
      rest = next
    }
  }
  yield rest + decoder.decode()
}

async function readStdin({ stdin }: Invocation): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString("utf8")
}
