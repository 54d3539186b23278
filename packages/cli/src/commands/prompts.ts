import type { Prompt } from "@toolwright/prompts"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, usageError, type OptionDeclarations } from "../options.ts"
import { oneLine } from "../render/short.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  prompts: {
    type: "string",
    value: "dir",
    multiple: true,
    description: "Folder of prompt files, beside the shipped prompts",
  },
  arg: {
    type: "string",
    value: "name=text",
    multiple: true,
    description: "Of render: an argument; name=@file takes a file's text",
  },
  json: { type: "boolean", description: "Print JSON" },
} as const satisfies OptionDeclarations

export const promptsCommand: Command = {
  name: "prompts",
  summary: "List the prompts, show one, or render one",
  usage: usageText({
    synopsis: [
      "prompts [list] [options]",
      "prompts show <name> [options]",
      "prompts render <name> --arg name=text … [options]",
    ],
    description:
      "Prompts are files: YAML with {argument} placeholders, or Markdown with front matter and Jinja. Fifteen " +
      "are shipped; a file of your own with\nthe same name replaces one.",
    options: OPTIONS,
    examples: [
      { line: "toolwright prompts", does: "Which there are" },
      {
        line: "toolwright prompts render code_review --arg code=@src/add.js --arg language=javascript",
        does: "A review prompt for a file",
      },
    ],
  }),
  async run(invocation) {
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 2 })
    const [action = "list", name] = positionals
    const json = values.json === true
    const { loadPrompts } = await import("@toolwright/prompts")
    const registry = await loadPrompts({ folders: values.prompts ?? [] })
    if (action === "list" && name === undefined) return list(invocation, registry.list(), json)
    if (action !== "show" && action !== "render")
      throw usageError(`'prompts ${action}' is not known.`, "Use list, show or render.")
    if (name === undefined)
      throw usageError(
        `Which prompt? Give its name: toolwright prompts ${action} <name>.`,
        "'toolwright prompts' lists them.",
      )
    const prompt = registry.named(name)
    if (action === "show") return show(invocation, prompt, json)
    return render(invocation, prompt, await argumentsFrom(invocation, values.arg ?? []), json)
  },
}

function print({ stdout }: Invocation, text: string): number {
  stdout.write(text.endsWith("\n") ? text : `${text}\n`)
  return EXIT.success
}

async function list(invocation: Invocation, prompts: readonly Prompt[], json: boolean): Promise<number> {
  const { promptDefinition } = await import("@toolwright/prompts")
  if (json) return print(invocation, JSON.stringify(prompts.map(promptDefinition), null, 2))
  const width = Math.max(...prompts.map(({ name }) => name.length))
  const lines = prompts.map(({ name, description }) => `${name.padEnd(width)}  ${oneLine(description, 90)}`)
  return print(invocation, lines.join("\n"))
}

async function show(invocation: Invocation, prompt: Prompt, json: boolean): Promise<number> {
  const { promptDefinition } = await import("@toolwright/prompts")
  const { engine, template } = prompt
  const all = { ...promptDefinition(prompt), engine, template }
  return print(invocation, json ? JSON.stringify(all, null, 2) : pageOf(prompt))
}

async function render(
  invocation: Invocation,
  prompt: Prompt,
  args: Record<string, string>,
  json: boolean,
): Promise<number> {
  const { renderPrompt } = await import("@toolwright/prompts")
  const result = renderPrompt(prompt, args)
  if (json) print(invocation, JSON.stringify(result))
  else if (result.success) print(invocation, result.content)
  else throw usageError(result.error ?? "The prompt cannot be rendered.")
  return result.success ? EXIT.success : EXIT.failure
}

/** A prompt for people. */
function pageOf({ name, description, arguments: list, template }: Prompt): string {
  const rows = list.map((each) => `  ${each.name}${each.required ? " (required)" : ""}: ${each.description}`)
  return `${name}: ${description}\n${rows.join("\n")}\n\n${template}`
}

async function argumentsFrom(invocation: Invocation, given: readonly string[]): Promise<Record<string, string>> {
  const [{ readFile }, { resolve }] = await Promise.all([import("node:fs/promises"), import("node:path")])
  const entries = given.map(async (pair): Promise<[string, string]> => {
    const at = pair.indexOf("=")
    if (at < 1) throw usageError(`'--arg ${pair}' is no argument.`, "Write --arg name=text, or --arg name=@file.")
    const [name, text] = [pair.slice(0, at), pair.slice(at + 1)]
    if (!text.startsWith("@")) return [name, text]
    try {
      return [name, await readFile(resolve(invocation.cwd, text.slice(1)), "utf8")]
    } catch (cause) {
      throw usageError(`The file of --arg ${name} cannot be read: ${(cause as Error).message}`)
    }
  })
  return Object.fromEntries(await Promise.all(entries))
}
