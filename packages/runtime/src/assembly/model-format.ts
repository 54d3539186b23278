import { readTemplate, type FoundTemplate, type ModelFormat, type ProbedServer } from "@toolwright/backends"
import { formatterOf, selectByTemplate } from "@toolwright/toolformat"
import type { Configuration } from "../configuration/settings.ts"
import { loadFormat } from "./format-file.ts"

type Model = Configuration["model"]
type Shown = Omit<FoundTemplate, "from">

/**
 * The format of a model by the module that is set, or by the template that is set or that its server shows.
 *
 * @param log gets a line where the format is inferred
 * @throws ToolwrightError `NO_TEMPLATE` where the setting names none, or as {@link loadFormat}
 */
export async function modelFormatOf(
  model: Model,
  probed: ProbedServer | undefined,
  log: (line: string) => void = () => {},
): Promise<ModelFormat | undefined> {
  if (model.formatFile !== undefined) {
    const formatter = formatterOf(await loadFormat(model.formatFile))
    return { formatter, because: `The setting names ${model.formatFile}.` }
  }
  const given = model.template === undefined ? undefined : await readTemplate(model.template)
  return formatBy(given ?? shownBy(probed), model, log)
}

/** Whether a setting says how calls stand in the model's text, so that its server's own tool use is left alone. */
export function readsText({ template, formatFile }: Model): boolean {
  return template !== undefined || formatFile !== undefined
}

function shownBy(probed: ProbedServer | undefined): Shown | undefined {
  const template = probed?.chatTemplate
  return template === undefined ? undefined : { template, ...probed?.tokens }
}

/** The format by the template; one that cannot be read leaves it to the model's name. */
function formatBy(
  found: Shown | undefined,
  { name = "", format, template }: Model,
  log: (line: string) => void,
): ModelFormat | undefined {
  if (found === undefined || format !== undefined) return undefined
  const { bosToken, eosToken } = found
  const settings = {
    ...(bosToken === undefined ? {} : { bosToken }),
    ...(eosToken === undefined ? {} : { eosToken }),
  }
  try {
    const selection = selectByTemplate(name, found.template, { settings })
    if (selection.inferred) log(`No format is known for '${name}'. ${selection.because}`)
    return { formatter: formatterOf(selection.format), because: selection.because }
  } catch (thrown) {
    // a template that the user named is not passed over
    if (template !== undefined) throw thrown
    return undefined
  }
}
