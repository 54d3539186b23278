import { nearest, ToolwrightError } from "@toolwright/toolbox"
import { placeOfOthers } from "./keys-of-others.ts"
import { SETTINGS } from "./settings.ts"

/**
 * Compares what a program gives with the settings that there are: a name that is none would be passed over in silence,
 * and the default be taken for what was meant.
 *
 * @param own names of options that are no settings
 * @throws ToolwrightError `INVALID_CONFIGURATION` with the name that was probably meant
 */
export function checkOptions(given: object, own: readonly string[]): void {
  const paths = new Set(
    SETTINGS.flatMap(({ key }) => key.split(".").map((_, at, parts) => parts.slice(0, at + 1).join("."))),
  )
  const walk = (value: object, prefix: string): void => {
    for (const [name, inner] of Object.entries(value)) {
      const path = prefix + name
      if (inner === undefined || (prefix === "" && own.includes(name))) continue
      if (!paths.has(path)) throw unknown(path, [...paths, ...own])
      if (SETTINGS.some(({ key }) => key === path)) continue
      if (typeof inner !== "object" || inner === null || Array.isArray(inner)) throw noSection(path)
      if ("specificationVersion" in inner) throw modelOfOthers(path)
      walk(inner, `${path}.`)
    }
  }
  walk(given, "")
}

/** What other libraries call it, and where it stands here. */
const OTHERS: Readonly<Record<string, string>> = {
  maxSteps: "Write agent: { maxRounds: … }, or maxRounds of one run.",
  stopWhen: "Write agent: { maxRounds: … }; a break at an event ends a run, too.",
  system: "Write systemPrompt of a run: run(task, { systemPrompt: … }).",
  systemPrompt: "Write it of a run: run(task, { systemPrompt: … }).",
  prompt: "Write run(prompt): what is asked for is the task of a run.",
  messages: "Write run(task, { history: … }).",
  temperature: "Write model: { temperature: … }, or sampling of one run.",
  activeTools: "Write tools of one run: run(task, { tools: [its names] }).",
  onStepFinish: "Read the event 'reply' of a run: for await (const event of run(task)).",
}

/** @throws ToolwrightError `INVALID_CONFIGURATION` for tools in another form than a list */
export function checkTools(given: unknown): void {
  if (Array.isArray(given)) return
  throw new ToolwrightError("INVALID_CONFIGURATION", "`tools` of createToolwright is no list.", {
    hint: "Write tools: [forecast], where each is made by defineTool({ name, … }): a tool has its name itself.",
  })
}

function noSection(path: string): ToolwrightError {
  const hint =
    path === "model"
      ? 'Write model: { name: "qwen2.5-7b-instruct", baseUrl: "http://localhost:8080/v1" }.'
      : `Write ${path}: { … }; docs/configuration.md lists what stands in it.`
  return new ToolwrightError("INVALID_CONFIGURATION", `\`${path}\` of createToolwright is no object.`, { hint })
}

function modelOfOthers(path: string): ToolwrightError {
  return new ToolwrightError("INVALID_CONFIGURATION", `\`${path}\` of createToolwright is a model of the AI SDK.`, {
    hint: 'Write backend: fromAiSdk(model), with fromAiSdk of "toolwright/backends".',
  })
}

function unknown(path: string, known: readonly string[]): ToolwrightError {
  const last = (text: string): string => text.split(".").at(-1)!.toLowerCase()
  const meant = nearest(path, known)[0] ?? known.find((other) => last(other) === last(path))
  const other = Object.hasOwn(OTHERS, path) ? OTHERS[path] : placeOfOthers(path)
  if (other !== undefined)
    return new ToolwrightError("INVALID_CONFIGURATION", `createToolwright has no option \`${path}\`.`, { hint: other })
  return new ToolwrightError("INVALID_CONFIGURATION", `createToolwright has no option \`${path}\`.`, {
    hint: meant === undefined ? "docs/configuration.md lists the settings." : `Did you mean \`${meant}\`?`,
  })
}
