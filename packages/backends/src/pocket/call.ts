/** How the model begins a call. */
export const CALL_OPEN = "<tool_call>"

/** A call as the model writes it. */
export interface PocketCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

const CALL = /^<tool_call>\s*(\{.*\})\s*<\/tool_call>\s*$/s

/** The call that a reply is; nothing where it is words, or no whole call. */
export function callIn(reply: string): PocketCall | undefined {
  const text = reply.startsWith(CALL_OPEN) ? CALL.exec(reply)?.[1] : undefined
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as PocketCall
  } catch {
    return undefined
  }
}

/** A call as it would have been written. */
export function callText(call: PocketCall): string {
  return `${CALL_OPEN}\n${JSON.stringify(call)}\n</tool_call>`
}
