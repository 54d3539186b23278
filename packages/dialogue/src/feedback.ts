import type { ToolDefinition, ToolResult } from "@toolwright/toolbox"

/** Characters of a result's text that a model is shown, where the tool does not say: successes and failures. */
export const SHOWN_CHARS = { success: 1000, failure: 500 } as const

/** A result's text cut for the model. `cut` says that something was left out and can be fetched by the call's id. */
export interface ShownOutput {
  text: string
  cut: boolean
}

/**
 * Bounds what goes back into the prompt. The cut falls on a line's end where one lies in the second half; a note says
 * how much is left and how to read it.
 *
 * @param handle the id under which the whole text can be read with `read_result`
 */
export function shownOutput(result: ToolResult, tool: ToolDefinition | undefined, handle: string): ShownOutput {
  const limit = tool?.maxOutputChars ?? (result.success ? SHOWN_CHARS.success : SHOWN_CHARS.failure)
  const { output } = result
  if (output.length <= limit) return { text: output, cut: false }
  const head = wholeCharacters(output.slice(0, limit))
  const newline = head.lastIndexOf("\n")
  const kept = newline > limit / 2 ? head.slice(0, newline) : head
  const rest = output.length - kept.length
  const note =
    `[~${Math.ceil(rest / 4)} more tokens available. Full result saved: call read_result with ` +
    `{"call_id":"${handle}","offset":${kept.length}} for the rest.]`
  return { text: `${kept}\n${note}`, cut: true }
}

/** A cut must not leave half a surrogate pair behind. */
function wholeCharacters(text: string): string {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text
}
