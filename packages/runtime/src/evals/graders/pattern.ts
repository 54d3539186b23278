import { runInNewContext } from "node:vm"
import { messageOf } from "@toolwright/toolbox"

/** Longest time that a pattern may take on a text. */
const PATTERN_MS = 2_000

/** Whether a regular expression is found in a text; a pattern that takes too long is ended. @throws Error then */
export function patternIn(pattern: string, text: string, ignoreCase = false): boolean {
  const said = { pattern, text, flags: ignoreCase ? "mi" : "m" }
  try {
    // In a context of its own a search can be ended.
    return runInNewContext("new RegExp(pattern, flags).test(text)", said, { timeout: PATTERN_MS }) === true
  } catch (cause) {
    throw new Error(`The pattern ${JSON.stringify(pattern)} could not be looked for: ${messageOf(cause)}`, { cause })
  }
}

/** What is wrong with a pattern, before it is used. */
export function patternFault(pattern: string): string | undefined {
  try {
    void new RegExp(pattern, "m")
    return undefined
  } catch (thrown) {
    return messageOf(thrown)
  }
}
