import type { Plan } from "@toolwright/agents"
import { yamlFile, type YamlFile } from "../yaml-file.ts"

/** A plan as it stands in a file, and in which line each part of it does. */
export interface PlanFile extends Pick<YamlFile, "lineOf"> {
  plan: unknown
}

/**
 * Reads the YAML of a plan.
 *
 * @returns undefined where there is no such file
 * @throws ToolwrightError `INVALID_PLAN` for what is no YAML, or too large
 */
export async function planFile(path: string): Promise<PlanFile | undefined> {
  const file = await yamlFile(path, { code: "INVALID_PLAN", what: "plan" })
  return file === undefined ? undefined : { plan: file.value, lineOf: file.lineOf }
}

/** A plan as YAML, to be changed. */
export async function planText(plan: Plan): Promise<string> {
  const { stringify } = await import("yaml")
  return stringify(plan, { lineWidth: 120 })
}
