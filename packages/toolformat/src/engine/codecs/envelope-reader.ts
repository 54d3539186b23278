import { CallWriter } from "../call-writer.ts"
import { escapeText } from "../json-text.ts"
import { anyLiteral, isNamePart, literal, skipSpace, textUntil } from "../scanning.ts"
import type { Session } from "../session.ts"
import { END, type Scan, type Source } from "../source.ts"
import type { EnvelopeSyntax } from "../syntax.ts"
import { JSON_NOTATION, scanValue, transcode, type Outcome } from "../value.ts"
import { resync, type ReadContext } from "./codec.ts"
import { readText } from "./quoted-text.ts"

/** What a member of the object says of the call. */
type Role = "name" | "arguments" | "id" | "note"
const ROLES: Readonly<Record<string, Role>> = {
  name: "name",
  tool: "name",
  tool_name: "name",
  function_name: "name",
  arguments: "arguments",
  args: "arguments",
  parameters: "arguments",
  params: "arguments",
  input: "arguments",
  tool_input: "arguments",
  id: "id",
  tool_call_id: "id",
  call_id: "id",
  type: "note",
  description: "note",
}
const NAME = /^[A-Za-z_][\w.-]*$/
/** Longest member that may come before a call is recognised where nothing marks it, in code units. */
const LOOKAHEAD = 256
const LONGEST_NAME = 100_000
const BRACE = 123

/** How far reading came: on to the next member, or `text` where this is no call after all. */
type Step = Outcome | "text"

/** Reads one call that is a JSON object with a name and arguments. */
export function readEnvelope(session: Session, syntax: EnvelopeSyntax, context: ReadContext): Scan<boolean> {
  return new EnvelopeReader(session, syntax, context).read()
}

class EnvelopeReader {
  private readonly session: Session
  private readonly source: Source
  private readonly syntax: EnvelopeSyntax
  private readonly context: ReadContext
  private readonly call: CallWriter
  private committed = false
  /** How many of the object's brackets are open. */
  private depth = 0
  /** Members that say nothing of a call, as JSON: its arguments, where it has no others. */
  private readonly beside: string[] = []
  private wrong = "The call is not a JSON object with the tool's name and its arguments."

  constructor(session: Session, syntax: EnvelopeSyntax, context: ReadContext) {
    this.session = session
    this.source = session.source
    this.syntax = syntax
    this.context = context
    this.call = new CallWriter(session, context.start)
  }

  *read(): Scan<boolean> {
    const header = yield* this.readHeader()
    if (header === undefined) return false
    if ((yield* this.source.wait()) !== BRACE) return yield* this.readNothing(header)
    this.source.at++
    this.depth = 1
    if (!this.context.bare && this.syntax.nameAsKey !== true) this.commit()
    yield* this.skipDoubled()
    const step = yield* this.readMembers()
    if (step === "text" || (!this.committed && !this.isLoneName(step))) return false
    this.call.name ??= header === "" ? undefined : header
    yield* this.finish(step)
    if (this.syntax.header !== undefined) yield* anyLiteral(this.source, this.syntax.header.close)
    return true
  }

  private commit(): void {
    if (!this.committed) this.context.commit()
    this.committed = true
  }

  /** The name in the message's header, empty where there is none; undefined where the header is not one of a call. */
  private *readHeader(): Scan<string | undefined> {
    const { header } = this.syntax
    if (header === undefined) return ""
    if (!this.context.atStart && !(yield* literal(this.source, header.open)))
      return (yield* literal(this.source, header.end)) ? "" : undefined
    const name = yield* textUntil(this.source, [header.end], LOOKAHEAD, '<{" \n')
    if (name === undefined) return undefined
    yield* literal(this.source, header.end)
    yield* skipSpace(this.source)
    return name
  }

  /** Where the header of a call stands, and the reply ends there. */
  private *readNothing(header: string): Scan<boolean> {
    if (this.syntax.header === undefined || (yield* skipSpace(this.source)) !== END) return false
    this.commit()
    this.call.name = header === "" ? undefined : header
    this.call.cutOff("the call")
    return true
  }

  /** Brackets doubled, as in templates that escape them. */
  private *skipDoubled(): Scan<undefined> {
    if (!this.committed || (yield* skipSpace(this.source)) !== BRACE) return
    this.source.at++
    this.depth++
    this.call.repaired("doubled brackets")
  }

  private *readMembers(): Scan<Step> {
    while (this.depth > 0) {
      const code = yield* skipSpace(this.source)
      if (code === END) return "open"
      if (code === 125 || code === 44) {
        this.source.at++
        if (code === 125) this.depth--
        continue
      }
      const key = code === 34 || code === 39 || isNamePart(code) ? yield* readText(this.source, LOOKAHEAD) : undefined
      if (key === undefined || (yield* skipSpace(this.source)) !== 58) return yield* this.unreadable()
      this.source.at++
      const value = yield* skipSpace(this.source)
      if (value === END) return "open"
      const step = yield* this.readMember(key, value)
      if (step === "invalid") this.wrong = `The value of '${key}' is not valid JSON.`
      if (step !== "done") return step
    }
    return "done"
  }

  private *unreadable(): Scan<Step> {
    return (yield* this.source.wait()) === END ? "open" : "invalid"
  }

  private *readMember(key: string, value: number): Scan<Step> {
    if (this.mayBeKeyed(key, value)) return yield* this.readKeyed(key, value)
    if (key === "function") return yield* this.readFunction(value)
    const role = this.roleOf(key)
    if (role === "name" && this.mayName(key, value)) return yield* this.readName()
    if (role === "arguments" && !this.call.hasArguments) return yield* this.readArguments(value)
    if (role === "id") return yield* this.readId(value)
    if (!this.context.bare || this.committed) return yield* this.readBeside(key)
    return role === "note" && (yield* readText(this.source, LOOKAHEAD)) !== undefined ? "done" : "text"
  }

  /**
   * Whether a key is the tool's name, and not that of a member of a call in the common form. Its value is an object;
   * what else stands for one does so behind the name of a tool on offer.
   */
  private mayBeKeyed(key: string, value: number): boolean {
    const { tools } = this.session
    if (this.syntax.nameAsKey !== true || this.depth !== 1 || this.call.name !== undefined) return false
    if (tools?.has(key) === true) return true
    return value === BRACE && (tools === undefined || this.roleOf(key) === undefined)
  }

  /** An object around name and arguments, or the name itself. */
  private *readFunction(value: number): Scan<Step> {
    if (value !== BRACE) return yield* this.call.name === undefined ? this.readName() : this.readBeside("function")
    this.source.at++
    this.depth++
    return "done"
  }

  /** What the family calls its members goes before what all do. */
  private roleOf(key: string): Role | undefined {
    const { keys } = this.syntax
    if (key === keys.name) return "name"
    if (key === keys.arguments) return "arguments"
    if (key === keys.id) return "id"
    return Object.hasOwn(ROLES, key) ? ROLES[key] : undefined
  }

  /** A second name is an argument that was written beside the call's own members. */
  private mayName(key: string, value: number): boolean {
    return this.call.name === undefined || !(value !== BRACE && this.isParameter(key))
  }

  private isParameter(key: string): boolean {
    return Object.hasOwn(this.call.tool?.parameters.properties ?? {}, key)
  }

  /** The name is the key, the arguments its value. */
  private *readKeyed(key: string, value: number): Scan<Step> {
    if (this.context.bare && this.session.tools?.has(key) !== true) return "text"
    this.call.name = key
    return yield* this.readArguments(value)
  }

  private *readName(): Scan<Step> {
    const name = yield* readText(this.source, this.context.bare && !this.committed ? LOOKAHEAD : LONGEST_NAME)
    if (name === undefined) return yield* this.unreadable()
    this.call.name = name
    if (this.call.hasArguments) this.call.write("")
    return "done"
  }

  private *readId(value: number): Scan<Step> {
    const { call } = this
    if (value === 34 || value === 39) {
      call.id = yield* readText(this.source, LOOKAHEAD)
      return "done"
    }
    return yield* scanValue(this.source, JSON_NOTATION, {
      write: (json) => (call.id = (call.id ?? "") + json),
      repaired: () => {},
    })
  }

  /** A member that is no part of a call: an argument, where the arguments stand beside the name. */
  private *readBeside(key: string): Scan<Step> {
    let json = ""
    const sink = { write: (piece: string) => (json += piece), repaired: () => {} }
    const outcome = yield* scanValue(this.source, JSON_NOTATION, sink, this.context.closers)
    if (ROLES[key] === "note" && !this.isParameter(key)) return outcome
    this.beside.push(`"${escapeText(key)}":${json}`)
    this.call.repaired(`an unknown member '${key}'`)
    return outcome
  }

  /** Arguments as an object, as a string that holds one, or nothing. */
  private *readArguments(value: number): Scan<Step> {
    const { call, source, context } = this
    if (context.bare && call.name !== undefined && !mayBeCalled(this.session, call.name)) return "text"
    if (context.bare && call.name === undefined && value !== BRACE) return "text"
    this.commit()
    call.complete = false
    const outcome =
      value === BRACE
        ? yield* scanValue(source, JSON_NOTATION, call, context.closers)
        : yield* this.readArgumentsAsText(value === 34 || value === 39)
    call.complete = outcome === "done"
    return outcome
  }

  private *readArgumentsAsText(quoted: boolean): Scan<Outcome> {
    const { call } = this
    const repaired = (what: string) => call.repaired(what)
    let text = ""
    const sink = { write: (json: string) => (text += json), repaired: quoted ? repaired : () => {} }
    const outcome = yield* scanValue(this.source, JSON_NOTATION, sink, this.context.closers)
    if (outcome !== "done") return outcome
    const inner = quoted ? (JSON.parse(text) as string).trim() : text === "null" ? "" : text.replace(/\s/g, "")
    const empty = inner === "" || (!quoted && inner === "[]")
    const json = empty ? "{}" : quoted ? transcode(inner, JSON_NOTATION, repaired, call.types) : undefined
    if (json === undefined) return "invalid"
    call.write(json)
    return "done"
  }

  /** Where nothing marks the call, a lone name is one of a tool that needs nothing more. */
  private isLoneName(step: Step): boolean {
    const { name, tool } = this.call
    if (step !== "done" || name === undefined || this.syntax.recovery === true) return false
    if (!mayBeCalled(this.session, name) || !NAME.test(name) || (tool?.parameters.required ?? []).length > 0)
      return false
    this.commit()
    return true
  }

  private *finish(step: Outcome): Scan<undefined> {
    const { call } = this
    if (step === "done") {
      this.takeBeside()
      call.finish()
    } else if (call.name !== undefined && call.hasArguments && call.complete)
      call.finish({ kind: "unterminated-call", message: "The call's closing bracket is missing." })
    else if (step === "open") call.cutOff("the call")
    else {
      yield* resync(this.source, this.context.closers)
      call.fail("invalid-arguments", this.wrong)
    }
  }

  /** Arguments that stand beside the name, where there are no others. */
  private takeBeside(): void {
    const { call, beside } = this
    if (call.hasArguments || call.name === undefined || beside.length === 0) return
    const json = `{${beside.join(",")}}`
    call.write(transcode(json, JSON_NOTATION, () => {}, call.types) ?? json)
  }
}

function mayBeCalled(session: Session, name: string): boolean {
  return session.tools === undefined || session.tools.has(name) || session.format.generic === true
}
