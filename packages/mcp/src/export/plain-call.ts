import { isObject } from "./result.ts"
import type { CallParams } from "./server.ts"

export const INTERNAL_ERROR = -32603

/** What a request must hold and may hold to be answered without the protocol's library. */
const REQUEST_KEYS = new Set(["jsonrpc", "id", "method", "params"])
const PARAM_KEYS = new Set(["name", "arguments", "_meta"])
/** Names that the protocol keeps for itself. */
const RESERVED = /^[^/]*\b(?:modelcontextprotocol|mcp)\b[^/]*\//

export type RequestId = string | number

/** A call of a tool that says nothing which only the protocol's library would understand. */
export interface PlainCall {
  id: RequestId
  params: CallParams
}

/**
 * Whether a message is a call of a tool, and nothing but that.
 *
 * @param isKnown says which of the names that the protocol keeps for itself may stand in its `_meta`; none unless given
 */
export function isPlainCall(
  message: Record<string, unknown>,
  isKnown: (name: string) => boolean = () => false,
): message is Record<string, unknown> & PlainCall {
  const { jsonrpc, id, method, params } = message
  return (
    method === "tools/call" &&
    jsonrpc === "2.0" &&
    (typeof id === "string" || Number.isSafeInteger(id)) &&
    onlyHas(message, REQUEST_KEYS) &&
    isObject(params) &&
    onlyHas(params, PARAM_KEYS) &&
    typeof params.name === "string" &&
    (params.arguments === undefined || isObject(params.arguments)) &&
    (params._meta === undefined || isPlainMeta(params._meta, isKnown))
  )
}

/** A token of progress, and keys of ours or of other parties that are no part of the protocol. */
function isPlainMeta(meta: unknown, isKnown: (name: string) => boolean): boolean {
  if (!isObject(meta)) return false
  const { progressToken: token } = meta
  const hasToken = token === undefined || typeof token === "string" || Number.isSafeInteger(token)
  return hasToken && Object.keys(meta).every((key) => key === "progressToken" || !RESERVED.test(key) || isKnown(key))
}

export function onlyHas(value: Record<string, unknown>, keys: ReadonlySet<string>): boolean {
  for (const key in value) if (!keys.has(key)) return false
  return true
}
