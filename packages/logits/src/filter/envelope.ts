/**
 * How far a call `{"name": …, "args": …}` has been written. Read byte by byte, so it does not matter how tokens cut it.
 */

/** The states of a tool call, in the order in which they come. */
export type ToolCallState =
  | "expecting-start"
  | "expecting-tool-name"
  | "expecting-name-value"
  | "expecting-args"
  | "parsing-args"
  | "expecting-end"
  | "complete"

/** Where in the text one is. Immutable. */
export interface Envelope {
  readonly state: ToolCallState
  /** Open brackets and braces below the arguments' own level. */
  readonly depth: number
  readonly inString: boolean
  readonly escaped: boolean
  /** The bytes of the tool's name so far. */
  readonly name: readonly number[]
}

export const EMPTY_ENVELOPE: Envelope = {
  state: "expecting-start",
  depth: 0,
  inString: false,
  escaped: false,
  name: [],
}

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a]
const OPENING = [0x7b, 0x5b]
const CLOSING = [0x7d, 0x5d]

/** The envelope after one more byte of a text that its grammar allows. */
export function readEnvelope(at: Envelope, byte: number): Envelope {
  if (at.inString) return readString(at, byte)
  if (byte === QUOTE) return { ...at, inString: true }
  switch (at.state) {
    case "expecting-start":
      return byte === OPENING[0] ? { ...at, state: "expecting-tool-name" } : at
    case "expecting-tool-name":
      return byte === COLON ? { ...at, state: "expecting-name-value" } : at
    case "expecting-args":
      return byte === COLON ? { ...at, state: "parsing-args" } : at
    case "parsing-args":
      return readArguments(at, byte)
    case "expecting-end":
      return byte === CLOSING[0] ? { ...at, state: "complete" } : at
    default:
      return at
  }
}

function readString(at: Envelope, byte: number): Envelope {
  if (at.escaped) return { ...withName(at, byte), escaped: false }
  if (byte === BACKSLASH) return { ...withName(at, byte), escaped: true }
  if (byte !== QUOTE) return withName(at, byte)
  const next = { ...at, inString: false }
  if (at.state === "expecting-name-value") return { ...next, state: "expecting-args" }
  return at.state === "parsing-args" && at.depth === 0 ? { ...next, state: "expecting-end" } : next
}

function withName(at: Envelope, byte: number): Envelope {
  return at.state === "expecting-name-value" ? { ...at, name: [...at.name, byte] } : at
}

function readArguments(at: Envelope, byte: number): Envelope {
  if (OPENING.includes(byte)) return { ...at, depth: at.depth + 1 }
  if (!CLOSING.includes(byte)) return at
  // Arguments that are a bare number or word end where the call ends.
  if (at.depth === 0) return { ...at, state: "complete" }
  return { ...at, depth: at.depth - 1, state: at.depth === 1 ? "expecting-end" : "parsing-args" }
}
