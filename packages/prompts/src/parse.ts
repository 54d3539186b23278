import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import type { Prompt, PromptArgument, PromptEngine } from "./model.ts"

/**
 * Reads a prompt file. YAML: the keys `name`, `description`, `arguments`, `template`, and `tags` and `engine` if
 * wanted. Markdown: the same keys in front matter, the text below is the template, and its engine is Jinja unless the
 * front matter says otherwise.
 *
 * @throws ToolwrightError `INVALID_PROMPT`, naming the file and what is wrong in it
 */
export async function parsePrompt(text: string, file: string): Promise<Prompt> {
  const markdown = file.endsWith(".md")
  const front = markdown ? splitFrontMatter(text, file) : { head: text, body: undefined }
  const fields = await parseYaml(front.head, file)
  const template = front.body ?? fields.template
  const wrong = (message: string) => invalid(file, message)
  const name = nameFrom(fields.name ?? (markdown ? baseName(file) : undefined), wrong)
  if (typeof template !== "string" || template.trim() === "")
    throw wrong("'template' must be a text that is not empty.")
  const unknown = Object.keys(fields).filter((key) => !KEYS.has(key))
  if (unknown.length > 0) throw wrong(`unknown key '${unknown[0]}'. Known: ${[...KEYS].join(", ")}.`)
  const engine = fields.engine ?? (markdown ? "jinja" : "placeholder")
  if (engine !== "placeholder" && engine !== "jinja") throw wrong("'engine' must be 'placeholder' or 'jinja'.")
  return {
    name,
    description: typeof fields.description === "string" ? fields.description.trim() : "",
    arguments: readArguments(fields.arguments, wrong),
    tags: Array.isArray(fields.tags) ? fields.tags.map(String) : [],
    engine: engine as PromptEngine,
    template,
    file,
  }
}

function nameFrom(name: unknown, wrong: (message: string) => ToolwrightError): string {
  if (typeof name === "string" && /^[A-Za-z_][A-Za-z0-9_-]*$/.test(name)) return name
  throw wrong("'name' must be a word of letters, digits, '_' and '-'.")
}

const KEYS = new Set(["name", "description", "arguments", "template", "tags", "engine", "category"])

async function parseYaml(text: string, file: string): Promise<Record<string, unknown>> {
  const { parse } = await import("yaml")
  let value: unknown
  try {
    value = parse(text, { logLevel: "error" })
  } catch (cause) {
    throw invalid(file, messageOf(cause).split("\n")[0] ?? "it is no YAML", cause)
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid(file, "it must be a mapping with 'name', 'arguments' and 'template'.")
  return value as Record<string, unknown>
}

function splitFrontMatter(text: string, file: string): { head: string; body: string } {
  const match = /^---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text)
  if (match === null) throw invalid(file, "a Markdown prompt begins with front matter between two lines '---'.")
  return { head: match[1]!, body: text.slice(match[0].length).replace(/^\r?\n/, "") }
}

function readArguments(given: unknown, wrong: (message: string) => ToolwrightError): PromptArgument[] {
  if (given === undefined || given === null) return []
  if (!Array.isArray(given)) throw wrong("'arguments' must be a list.")
  const seen = new Set<string>()
  return given.map((entry: unknown, index) => {
    const { name, required = false, description = "" } = (entry ?? {}) as Record<string, unknown>
    if (typeof name !== "string" || !/^[A-Za-z_]\w*$/.test(name))
      throw wrong(`argument ${index + 1} needs a 'name' of letters, digits and '_'.`)
    if (seen.has(name)) throw wrong(`the argument '${name}' stands there twice.`)
    if (typeof required !== "boolean") throw wrong(`'required' of the argument '${name}' must be true or false.`)
    seen.add(name)
    return { name, required, description: String(description) }
  })
}

function baseName(file: string): string {
  return (file.split(/[/\\]/).at(-1) ?? file).replace(/\.[^.]+$/, "")
}

function invalid(file: string, message: string, cause?: unknown): ToolwrightError {
  return new ToolwrightError("INVALID_PROMPT", `${file}: ${message}`, cause === undefined ? {} : { cause })
}
