import { existsSync } from "node:fs"
import { ToolwrightError } from "@toolwright/toolbox"

export const HOW_TO_RECORD = "To record it, run the test with TOOLWRIGHT_RECORD=1."

/** Whether a recording is made anew: always, never, or where there is none. */
export type Update = boolean | "missing"

/**
 * Whether to record or to replay. The option goes before the variable `TOOLWRIGHT_RECORD` (`1`, or `missing` for files
 * that are not there).
 *
 * @throws ToolwrightError `RECORDING_INVALID` for another value of the variable
 */
export function modeFor(
  file: string,
  update: Update | undefined,
  env: Readonly<Record<string, string | undefined>> = process.env,
): "record" | "replay" {
  const wanted = update ?? fromVariable(env.TOOLWRIGHT_RECORD ?? "")
  return wanted === true || (wanted === "missing" && !existsSync(file)) ? "record" : "replay"
}

function fromVariable(value: string): Update {
  if (value === "" || value === "0" || value === "false") return false
  if (value === "1" || value === "true") return true
  if (value === "missing") return "missing"
  throw new ToolwrightError(
    "RECORDING_INVALID",
    `TOOLWRIGHT_RECORD is '${value}', which means nothing; set it to 1 or to 'missing'.`,
  )
}
