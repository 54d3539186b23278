import { readFile, stat } from "node:fs/promises"
import type { Plan } from "@toolwright/agents"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"

const LARGEST_BYTES = 1024 * 1024

/**
 * Reads the YAML of a plan, as it stands in a file.
 *
 * @returns undefined where there is no such file
 * @throws ToolwrightError `INVALID_PLAN` for what is no YAML, or too large
 */
export async function planFile(path: string): Promise<unknown> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile() !== true) return undefined
  if (found.size > LARGEST_BYTES)
    throw new ToolwrightError("INVALID_PLAN", `${path} is larger than 1 MB, so it is no plan.`)
  return parsePlan(await readFile(path, "utf8"), path)
}

/** @throws ToolwrightError `INVALID_PLAN` */
export async function parsePlan(text: string, where: string): Promise<unknown> {
  const { parse } = await import("yaml")
  try {
    return (parse(text, { logLevel: "error", maxAliasCount: 100 }) as unknown) ?? {}
  } catch (cause) {
    throw new ToolwrightError("INVALID_PLAN", `${where}: ${messageOf(cause).split("\n")[0]}`, { cause })
  }
}

/** A plan as YAML, to be changed. */
export async function planText(plan: Plan): Promise<string> {
  const { stringify } = await import("yaml")
  return stringify(plan, { lineWidth: 120 })
}
