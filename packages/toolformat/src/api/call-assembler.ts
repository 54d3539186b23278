import { messageOf } from "@toolwright/toolbox"
import type { JsonObject } from "@toolwright/toolbox"
import type { ServerEvent, ParseProblem } from "../model/formatter.ts"
import type { ApiDecoderOptions } from "./events.ts"
import { asObject, parseJson } from "./json.ts"

/** A piece of a native tool call. Servers differ in what they leave out; only a name must come at some time. */
export interface CallDelta {
  index?: number | undefined
  id?: string | undefined
  name?: string | undefined
  /** A piece of the arguments' JSON text. */
  arguments?: string | undefined
}

/** Puts pieces of calls together; see {@link createCallAssembler}. */
export interface CallAssembler {
  push(delta: CallDelta): ServerEvent[]
  /** Ends the call with this wire index now, for wires that say so. */
  close(index: number): ServerEvent[]
  /**
   * Ends every open call, in the order in which they began. `cutOff` says that the reply broke off: then a call whose
   * arguments had not begun is a problem, not a call without arguments.
   */
  end(cutOff?: boolean): ServerEvent[]
}

/**
 * `text` only grows, and is read once, at the end: reading a string that grows makes it anew each time, and a server may
 * send the arguments letter by letter.
 */
interface OpenCall {
  slot: number
  wireIndex: number | undefined
  id: string | undefined
  name: string | undefined
  text: string
  /** The end of `text` that was not handed out yet. */
  unsent: string
  /** Whether the text begins as an object does; unknown while it is white space. */
  isObject: boolean | undefined
  /** Some of the text was handed out. */
  sent: boolean
  started: boolean
  ended: boolean
  /** Followed where only its end can tell one call from the next. */
  nesting: Nesting | undefined
}

/**
 * Puts the pieces of native tool calls together, whatever their order.
 *
 * - Deltas of parallel calls may interleave. An id that changes together with a name under the same index begins a new
 *   call
 *   (servers that number every call 0); deltas without an index belong to their id's call, else to the last one.
 * - Text leaves at once when it can only be an object, so that the deltas of a call join to the JSON of its arguments.
 *   Anything
 *   else is held until the end.
 * - No arguments, white space, or `null` mean `{}`. Arguments that were encoded twice are decoded again and reported as
 *   a
 *   repaired problem. What is no object after that is an `invalid-arguments` problem with the text, and no call.
 */
export function createCallAssembler(options: ApiDecoderOptions = {}): CallAssembler {
  const newId = options.newId ?? ((index: number) => `call_${index}`)
  const calls: OpenCall[] = []
  const byIndex = new Map<number, OpenCall>()
  const byId = new Map<string, OpenCall>()

  function open(wireIndex: number | undefined): OpenCall {
    const call: OpenCall = {
      slot: calls.length,
      wireIndex,
      id: undefined,
      name: undefined,
      text: "",
      unsent: "",
      isObject: undefined,
      sent: false,
      started: false,
      ended: false,
      nesting: wireIndex === undefined ? createNesting() : undefined,
    }
    calls.push(call)
    if (wireIndex !== undefined) byIndex.set(wireIndex, call)
    return call
  }

  function locate(delta: CallDelta, events: ServerEvent[]): OpenCall {
    if (delta.index !== undefined) {
      const known = byIndex.get(delta.index)
      if (known === undefined) return open(delta.index)
      const renamed = delta.id && known.id && delta.id !== known.id && delta.name
      if (!renamed && !known.ended) return known
      events.push(...finish(known))
      return open(delta.index)
    }
    const known = delta.id ? byId.get(delta.id) : calls.at(-1)
    if (known === undefined || known.ended) return open(undefined)
    const another =
      !delta.id &&
      delta.name &&
      known.name !== undefined &&
      (known.name !== delta.name || known.nesting?.complete === true)
    return another ? open(undefined) : known
  }

  function start(call: OpenCall, events: ServerEvent[]): void {
    if (call.started || call.name === undefined) return
    call.started = true
    call.id ??= newId(call.slot)
    events.push({ type: "call-start", index: call.slot, id: call.id, name: call.name })
  }

  function take(call: OpenCall, text: string): void {
    call.text += text
    call.unsent += text
    call.nesting?.push(text)
    if (call.isObject !== undefined) return
    const [first] = text.trimStart()
    if (first !== undefined) call.isObject = first === "{"
  }

  function send(call: OpenCall, events: ServerEvent[]): void {
    if (!call.started || call.isObject !== true || call.unsent === "") return
    events.push({ type: "args-delta", index: call.slot, text: call.unsent })
    call.unsent = ""
    call.sent = true
  }

  function finish(call: OpenCall, cutOff = false): ServerEvent[] {
    if (call.ended) return []
    call.ended = true
    const events: ServerEvent[] = []
    const problem = (
      text: string,
      message: string,
      repaired: boolean,
      kind: ParseProblem["kind"] = "invalid-arguments",
    ): void => {
      const { name, slot: index, id = newId(index) } = call
      const told = name === undefined ? {} : { tool: name, ...(repaired ? {} : { call: { index, id, name } }) }
      events.push({ type: "problem", problem: { kind, at: 0, text, message, repaired, ...told } })
    }
    if (call.name === undefined) {
      problem(call.text, "The server sent a call without a tool name.", false)
      return events
    }
    start(call, events)
    if (cutOff && call.text.trim() === "") {
      problem(call.name, `The reply broke off before the arguments of "${call.name}".`, false, "unterminated-call")
      return events
    }
    const read = readArguments(call.text)
    if (read.args === undefined) {
      problem(call.text, `Arguments of "${call.name}" are not a JSON object: ${read.reason}`, false)
      return events
    }
    if (read.repair !== undefined) problem(call.text, `Arguments of "${call.name}" ${read.repair}.`, true)
    if (!call.sent) events.push({ type: "args-delta", index: call.slot, text: JSON.stringify(read.args) })
    events.push({
      type: "call-end",
      index: call.slot,
      call: { id: call.id ?? newId(call.slot), name: call.name, arguments: read.args },
    })
    return events
  }

  return {
    push(delta) {
      const events: ServerEvent[] = []
      const call = locate(delta, events)
      if (delta.id && call.id === undefined) {
        call.id = delta.id
        byId.set(delta.id, call)
      }
      if (delta.name && call.name === undefined) call.name = delta.name
      if (delta.arguments) take(call, delta.arguments)
      // Without an id the start waits for the arguments: the id may come in the next piece.
      if (call.id !== undefined || call.text !== "") start(call, events)
      send(call, events)
      return events
    },
    close(index) {
      const call = byIndex.get(index)
      return call === undefined ? [] : finish(call)
    },
    end(cutOff = false) {
      return calls.flatMap((call) => finish(call, cutOff))
    },
  }
}

/** Follows the brackets of JSON text as it comes. */
interface Nesting {
  push(text: string): void
  /** The text is one object, from its first bracket to its last. */
  readonly complete: boolean
}

function createNesting(): Nesting {
  let depth = 0
  let inString = false
  let escaped = false
  let closed = false
  let spoiled = false
  function read(character: string): void {
    if (inString) {
      if (escaped) escaped = false
      else if (character === "\\") escaped = true
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === "{" || character === "[") depth++
    else if ((character === "}" || character === "]") && --depth === 0) closed = true
  }
  return {
    get complete() {
      return closed && !spoiled
    },
    push(text) {
      for (const character of text) {
        if (closed || depth === 0) spoiled ||= closed ? character.trim() !== "" : !/[\s{]/.test(character)
        if (!spoiled) read(character)
      }
    },
  }
}

function readArguments(text: string): { args?: JsonObject; repair?: string; reason?: string } {
  if (text.trim() === "") return { args: {} }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (thrown) {
    return { reason: messageOf(thrown) }
  }
  const object = asObject(value)
  if (object !== undefined) return { args: object }
  if (value === null) return { args: {} }
  if (typeof value === "string") {
    const inner = value.trim() === "" ? {} : asObject(parseJson(value))
    if (inner !== undefined) return { args: inner, repair: "were encoded twice" }
  }
  return { reason: `they are ${Array.isArray(value) ? "an array" : `a ${typeof value}`}` }
}
