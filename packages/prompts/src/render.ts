import { messageOf, nearest, ToolwrightError, type JsonObject } from "@toolwright/toolbox"
import { renderTemplate } from "@toolwright/toolformat"
import type { Prompt, PromptResult } from "./model.ts"

/**
 * Renders a prompt. Never throws: what is wrong is said in `error`, with every missing and unknown argument named. An
 * optional argument that is not given is empty text.
 */
export function renderPrompt(prompt: Prompt, args: JsonObject = {}): PromptResult {
  const problem = problemWith(prompt, args)
  if (problem !== undefined) return failed(problem)
  try {
    const content =
      prompt.engine === "jinja"
        ? renderTemplate(prompt.template, values(prompt, args), { strict: true })
        : fill(prompt, args)
    return {
      success: true,
      messages: [{ role: "user", content }],
      content,
      error: null,
      metadata: { prompt: prompt.name },
    }
  } catch (thrown) {
    const known = prompt.arguments.map(({ name }) => name).join(", ") || "none"
    const hint = / is undefined /.test(messageOf(thrown)) ? `; it declares these arguments: ${known}` : ""
    return failed(`The prompt '${prompt.name}' cannot be rendered: ${messageOf(thrown)}${hint}`)
  }
}

/** Like {@link renderPrompt}, for callers that want an exception. @throws ToolwrightError `PROMPT_FAILED` */
export function renderPromptText(prompt: Prompt, args?: JsonObject): string {
  const { success, content, error } = renderPrompt(prompt, args)
  if (success) return content
  throw new ToolwrightError("PROMPT_FAILED", error ?? "The prompt cannot be rendered.")
}

function problemWith(prompt: Prompt, args: JsonObject): string | undefined {
  const known = prompt.arguments.map(({ name }) => name)
  const missing = prompt.arguments.filter(
    ({ name, required }) => required && (args[name] === undefined || args[name] === null),
  )
  const unknown = Object.keys(args).filter((name) => !known.includes(name))
  const parts = [
    ...missing.map(
      ({ name, description }) =>
        `The required argument '${name}' is missing${description === "" ? "" : ` (${description})`}.`,
    ),
    ...unknown.map((name) => {
      const close = nearest(name, known)[0]
      return (
        `There is no argument ` +
        `'${name}'.${close === undefined ? ` Known: ${known.join(", ") || "none"}.` : ` Did you mean '${close}'?`}`
      )
    }),
  ]
  return parts.length === 0 ? undefined : parts.join(" ")
}

/** Only declared arguments are replaced, once; every other brace is text, also in what is put in. */
function fill(prompt: Prompt, args: JsonObject): string {
  const given = values(prompt, args)
  return prompt.template.replaceAll(/\{([A-Za-z_]\w*)\}/g, (whole, name: string) =>
    Object.hasOwn(given, name) ? textOf(given[name]) : whole,
  )
}

function values(prompt: Prompt, args: JsonObject): JsonObject {
  return Object.fromEntries(prompt.arguments.map(({ name }) => [name, args[name] ?? ""]))
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value)
}

function failed(error: string): PromptResult {
  return { success: false, messages: [], content: "", error, metadata: {} }
}
