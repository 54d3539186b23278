import { resolve } from "node:path"
import type { Plan, PlanFile } from "@toolwright/runtime"
import { nearest, usageError } from "../options.ts"

/**
 * The plan in a YAML file, or the template of that name.
 *
 * @throws ToolwrightError `USAGE` where there is neither, `INVALID_PLAN` where it is no YAML
 */
export async function planIn(cwd: string, named: string): Promise<Pick<PlanFile, "plan"> & Partial<PlanFile>> {
  const { planFile } = await import("@toolwright/runtime")
  return (await planFile(resolve(cwd, named))) ?? { plan: await templateNamed(named) }
}

/** @throws ToolwrightError `USAGE` */
export async function templateNamed(name: string): Promise<Plan> {
  const { PLAN_TEMPLATES } = await import("@toolwright/runtime")
  const template = PLAN_TEMPLATES.find((each) => each.name === name)
  if (template !== undefined) return template
  const names = PLAN_TEMPLATES.map((each) => each.name)
  const close = nearest(name, names)[0]
  const meant = close === undefined ? "" : ` Did you mean ${close}?`
  throw usageError(
    `There is no file '${name}', and no template of that name.`,
    `Templates: ${names.join(", ")}.${meant}`,
  )
}

/** Reads `name=value`, one for each input. @throws ToolwrightError `USAGE` */
export function inputsIn(given: readonly string[] | undefined): Record<string, string> {
  const pairs = (given ?? []).map((pair): [string, string] => {
    const at = pair.indexOf("=")
    if (at < 1) throw usageError(`--set '${pair}' names no value.`, 'Write it as --set wish="a clock in the header".')
    return [pair.slice(0, at), pair.slice(at + 1)]
  })
  return Object.fromEntries(pairs)
}
