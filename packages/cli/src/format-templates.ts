import { resolve } from "node:path"
import type { FoundTemplate } from "@toolwright/backends"
import type { FormatInference, Selection, SelectOptions, TemplateSelection } from "@toolwright/toolformat"
import type { Invocation } from "./command.ts"

/** Chooses formats by chat templates, each of which is read and rendered once. */
export interface TemplateFormats {
  /** @throws ToolwrightError `NO_TEMPLATE`; TemplateError where the template is no Jinja */
  select(source: string, modelName: string, options?: SelectOptions): Promise<TemplateSelection>
}

/** For the life of one command. */
export function templateFormats({ cwd }: Pick<Invocation, "cwd">): TemplateFormats {
  const known = new Map<string, Promise<TemplateSelection>>()
  const make = async (source: string, modelName: string, options: SelectOptions): Promise<TemplateSelection> => {
    const { selectByTemplate } = await import("@toolwright/toolformat")
    const { template, ...settings } = await readSource(cwd, source)
    return selectByTemplate(modelName, template, { ...options, settings: tokensOf(settings) })
  }
  return {
    select(source, modelName, options = {}) {
      const key = JSON.stringify([source, modelName, options.format])
      let made = known.get(key)
      if (made === undefined) known.set(key, (made = make(source, modelName, options)))
      return made
    },
  }
}

/**
 * Whether a reply begins in reasoning that its prompt opened: by a template, which may do so, and the reply closes what
 * it did not open.
 */
export function beginsInReasoning(selection: Selection, raw: string): boolean {
  const { open = [], close = [] } = selection.format.reasoning ?? {}
  const first = (marks: readonly string[]) =>
    Math.min(...marks.map((mark) => raw.indexOf(mark)).map((at) => (at < 0 ? Infinity : at)))
  return "inference" in selection && first(close) < first(open)
}

/** A template from a file, found from where the command was started, or from a server. */
export async function readSource(cwd: string, source: string, modelName?: string): Promise<FoundTemplate> {
  const { readTemplate } = await import("@toolwright/backends")
  const place = /^https?:\/\//i.test(source) ? source : resolve(cwd, source)
  return readTemplate(place, modelName === undefined ? {} : { modelName })
}

function tokensOf({ bosToken, eosToken }: Omit<FoundTemplate, "template">) {
  return { ...(bosToken === undefined ? {} : { bosToken }), ...(eosToken === undefined ? {} : { eosToken }) }
}

/** What a template's inference says, for people or as JSON. */
export async function inferredText(
  { cwd }: Pick<Invocation, "cwd">,
  source: string,
  { json = false, modelName }: { json?: boolean; modelName?: string | undefined },
): Promise<{ text: string; inferred: boolean }> {
  const { formatterOf, inferFormat } = await import("@toolwright/toolformat")
  const found = await readSource(cwd, source, modelName)
  const inference = inferFormat(found.template, tokensOf(found))
  const inferred = inference.format !== undefined
  if (json) {
    const {
      prompt: _prompt,
      result: _result,
      ...format
    } = inference.format ?? ({} as NonNullable<FormatInference["format"]>)
    const shown = { from: found.from, ...inference, format: inferred ? format : null }
    return { inferred, text: `${JSON.stringify(shown, null, 2)}\n` }
  }
  const { certainty, judgement, recognised, same, seen, unseen, format } = inference
  const lines = [
    format === undefined
      ? `${found.from}: no format can be inferred.`
      : `${found.from}: ${certainty}, ${judgement!.read} of ${judgement!.shown} probes read back as the calls that ` +
        "they are, at every cut.",
    ...(recognised === undefined ? [] : [`It has the marks of the format '${recognised}', which is written by hand.`]),
    ...(same.length === 0 ? [] : [`Its calls are those of ${same.map((id) => `'${id}'`).join(", ")}.`]),
    ...section("Seen", seen),
    ...section("Not seen, or otherwise", unseen),
  ]
  if (format !== undefined) {
    const call = { id: "call00001", name: "tool_name", arguments: { param: "value", count: 2 } }
    lines.push("", "A call:", formatterOf(format).printCalls([call]))
  }
  return { inferred, text: `${lines.join("\n")}\n` }
}

function section(title: string, sentences: readonly string[]): string[] {
  return sentences.length === 0 ? [] : ["", `${title}:`, ...sentences.map((sentence) => `- ${sentence}`)]
}
