import { isTooDeep, messageOf } from "@toolwright/toolbox"
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
 * `text` only grows, and is read once, at the end: reading a string that grows makes it anew each time, and a server
 * may send the arguments letter by letter.
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
 *   call (servers that number every call 0); deltas without an index belong to their id's call, else to the last one.
 * - Text leaves at once when it can only be an object, so that the deltas of a call join to the JSON of its arguments.
 *   Anything else is held until the end.
 * - No arguments, white space, or `null` mean `{}`. Arguments that were encoded twice are decoded again and reported as
 *   a repaired problem. What is no object after that is an `invalid-arguments` problem with the text, and no call.
 */
export function createCallAssembler(options: ApiDecoderOptions = {}): CallAssembler {
  const calls = new Calls()
  const newId = options.newId ?? ((index: number) => `call_${index}`)

  return {
    push(delta) {
      const { call, over } = calls.locate(delta)
      const events = over === undefined ? [] : finish(over, newId)
      calls.name(call, delta)
      if (delta.arguments) take(call, delta.arguments)
      // Without an id the start waits for the arguments: the id may come in the next piece.
      if (call.id !== undefined || call.text !== "") start(call, newId, events)
      send(call, events)
      return events
    },
    close(index) {
      const call = calls.at(index)
      return call === undefined ? [] : finish(call, newId)
    },
    end(cutOff = false) {
      return calls.all.flatMap((call) => finish(call, newId, cutOff))
    },
  }
}

/** The calls of one reply, found again by what their pieces say of them. */
class Calls {
  readonly all: OpenCall[] = []
  readonly #byIndex = new Map<number, OpenCall>()
  readonly #byId = new Map<string, OpenCall>()

  at(index: number): OpenCall | undefined {
    return this.#byIndex.get(index)
  }

  /** The call that a piece belongs to, and the one that is over with it. */
  locate(delta: CallDelta): { call: OpenCall; over?: OpenCall } {
    if (delta.index === undefined) return { call: this.#locateWithoutIndex(delta) }
    const known = this.at(delta.index)
    if (known === undefined) return { call: this.#open(delta.index) }
    const renamed = delta.id && known.id && delta.id !== known.id && delta.name
    return renamed || known.ended ? { call: this.#open(delta.index), over: known } : { call: known }
  }

  #locateWithoutIndex(delta: CallDelta): OpenCall {
    const known = delta.id ? this.#byId.get(delta.id) : this.all.at(-1)
    if (known === undefined || known.ended) return this.#open(undefined)
    if (delta.id || !delta.name || known.name === undefined) return known
    return known.name !== delta.name || known.nesting?.complete === true ? this.#open(undefined) : known
  }

  #open(wireIndex: number | undefined): OpenCall {
    const call: OpenCall = {
      slot: this.all.length,
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
    this.all.push(call)
    if (wireIndex !== undefined) this.#byIndex.set(wireIndex, call)
    return call
  }

  /** Keeps the first id and the first name that a call is given. */
  name(call: OpenCall, { id, name }: CallDelta): void {
    if (id && call.id === undefined) {
      call.id = id
      this.#byId.set(id, call)
    }
    if (name && call.name === undefined) call.name = name
  }
}

function start(call: OpenCall, newId: (index: number) => string, events: ServerEvent[]): void {
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

function finish(call: OpenCall, newId: (index: number) => string, cutOff = false): ServerEvent[] {
  if (call.ended) return []
  call.ended = true
  const { slot, name, text } = call
  const problem = (found: Pick<ParseProblem, "kind" | "text" | "message" | "repaired">): ServerEvent => {
    const { id = newId(slot) } = call
    const told =
      name === undefined ? {} : { tool: name, ...(found.repaired ? {} : { call: { index: slot, id, name } }) }
    return { type: "problem", problem: { at: 0, ...found, ...told } }
  }
  const kind = "invalid-arguments"
  if (name === undefined)
    return [problem({ kind, text, message: "The server sent a call without a tool name.", repaired: false })]
  const events: ServerEvent[] = []
  start(call, newId, events)
  if (cutOff && text.trim() === "") {
    const message = `The reply broke off before the arguments of "${name}".`
    return [...events, problem({ kind: "unterminated-call", text: name, message, repaired: false })]
  }
  const read = readArguments(text)
  if (read.args === undefined) {
    const message = `Arguments of "${name}" are not a JSON object: ${read.reason}`
    return [...events, problem({ kind, text, message, repaired: false })]
  }
  if (read.repair !== undefined)
    events.push(problem({ kind, text, message: `Arguments of "${name}" ${read.repair}.`, repaired: true }))
  if (!call.sent) events.push({ type: "args-delta", index: slot, text: JSON.stringify(read.args) })
  events.push({ type: "call-end", index: slot, call: { id: call.id ?? newId(slot), name, arguments: read.args } })
  return events
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
  if (isTooDeep(value, text)) return { reason: "they are nested too deeply" }
  const object = asObject(value)
  if (object !== undefined) return { args: object }
  if (value === null) return { args: {} }
  if (typeof value === "string") {
    const inner = value.trim() === "" ? {} : asObject(parseJson(value))
    if (inner !== undefined) return { args: inner, repair: "were encoded twice" }
  }
  return { reason: `they are ${Array.isArray(value) ? "an array" : `a ${typeof value}`}` }
}
