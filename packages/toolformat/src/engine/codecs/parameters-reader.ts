import { CallWriter } from "../call-writer.ts"
import { ANYTHING, coerce, isText, typingOf, type Typing } from "../coerce.ts"
import { decodeEntities, escapeText } from "../json-text.ts"
import { anyLiteral, literal, looksAt, skipSpace, stands, textUntil } from "../scanning.ts"
import type { Session } from "../session.ts"
import { END, type Scan, type Source } from "../source.ts"
import type { ParametersSyntax } from "../syntax.ts"
import { JSON_NOTATION, scanValue, transcode } from "../value.ts"
import { attributeIn, attributeText } from "./attributes.ts"
import { resync, settle, type ReadContext } from "./codec.ts"
import { Beginnings, scanText } from "./raw-text.ts"
import { isSaidText } from "./said-text.ts"

const LONGEST_NAME = 256
const LONGEST_KEY = 1_000
const PLAIN_NAME = /^[^\s<>{}[\]"'`]+$/
const BRACE = 123
/** Parameters that no tool has and that hold all of the arguments. */
const WHOLE: ReadonlySet<string> = new Set(["arguments", "parameters", "properties", "input"])
/** A parameter's closing mark, which may name its key. */
export function closeOf(mark: string, key: string): string {
  return mark.replaceAll("{key}", key)
}

/** Reads one call whose parameters stand between tags. */
export function readParameters(session: Session, syntax: ParametersSyntax, context: ReadContext): Scan<boolean> {
  return new ParametersReader(session, syntax, context).read()
}

/** What comes next between a call's name and its end. */
type Part = "parameter" | "end" | "early" | "text"

/** A key, and what was said of its value's type where that is written beside it. */
interface Key {
  readonly name: string
  readonly said: string | undefined
  /** There is no value: the key's tag stands alone. */
  readonly alone: "without a value" | "closed" | undefined
}

class ParametersReader {
  private readonly source: Source
  private readonly tools: Session["tools"]
  private readonly syntax: ParametersSyntax
  private readonly context: ReadContext
  private readonly call: CallWriter
  private readonly seen = new Set<string>()
  private committed = false
  /** What can follow a value's end; after anything else, the mark was part of the value. */
  private readonly after: readonly string[]
  /** What closes a call, or stands behind one; and whether one of these begins as parameters do. */
  private readonly ends: readonly string[]
  private readonly alike: boolean
  /** What stands behind a call whose own end is missing. */
  private readonly behind: readonly string[]

  constructor(session: Session, syntax: ParametersSyntax, context: ReadContext) {
    this.source = session.source
    this.tools = session.tools
    this.syntax = syntax
    this.context = context
    this.call = new CallWriter(session, context.start)
    const { call, parameter, wrapper } = syntax
    this.behind = [...(wrapper?.close ?? []), ...call.open, ...(wrapper?.open ?? [])]
    this.after = [...parameter.open, ...call.close, ...this.behind]
    this.ends = [...call.close, ...this.behind]
    this.alike =
      parameter.close.some((mark) => mark.includes("{key}")) ||
      this.ends.some((mark) => parameter.open.some((open) => mark.startsWith(open)))
  }

  *read(): Scan<boolean> {
    const name = yield* this.readName()
    if (name !== "parameters") return name === "call"
    for (;;) {
      const part = yield* this.nextPart()
      if (part === "text") return false
      if (part === "early") return this.endEarly()
      if (part === "end") {
        if (this.call.hasArguments && !this.call.complete) this.call.write("}")
        this.call.finish()
        return true
      }
      if (yield* this.readParameter()) continue
      yield* this.giveUp()
      return true
    }
  }

  private commit(): void {
    if (!this.committed) this.context.commit()
    this.committed = true
  }

  /**
   * The tool's name, and all up to the first parameter; `call` where that is the whole call, `text` where it is none.
   */
  private *readName(): Scan<"parameters" | "call" | "text"> {
    const { source, call } = this
    const { call: tags } = this.syntax
    const unnamed = tags.open.length === 0 || tags.nameEnd.every((mark) => mark.trim() === "")
    if (tags.open.length > 0 && (yield* anyLiteral(source, tags.open)) === undefined) return "text"
    if (!(yield* this.readIdBefore())) return (yield* this.cutOffInName()) ? "call" : "text"
    const stops = unnamed ? this.endsOfBareName() : tags.nameEnd
    const written = yield* textUntil(source, stops, LONGEST_NAME, "<{}\n")
    if (written === undefined) return (yield* this.cutOffInName()) ? "call" : "text"
    const name = this.nameOf(written)
    if (name === "" || (unnamed && !PLAIN_NAME.test(name))) return "text"
    call.name = name
    const end = yield* this.passNameEnd(unnamed)
    if (end?.endsWith("/>") === true) {
      this.commit()
      call.finish()
      return "call"
    }
    yield* this.skipAttributes()
    return (yield* this.readObject()) ? "call" : "parameters"
  }

  /** The id that stands before the name, where the family writes one there; whether what follows it was found. */
  private *readIdBefore(): Scan<boolean> {
    const { idBefore } = this.syntax.call
    if (idBefore === undefined) return true
    const written = yield* textUntil(this.source, [idBefore], LONGEST_NAME, "<>{}\n")
    if (written === undefined) return false
    yield* literal(this.source, idBefore)
    if (written.trim() !== "") this.call.id = decodeEntities(written.trim())
    return true
  }

  /** Goes past what ends the name; where no mark does, models write a bracket as if one did. */
  private *passNameEnd(unnamed: boolean): Scan<string | undefined> {
    const end = yield* anyLiteral(this.source, this.syntax.call.nameEnd)
    if (unnamed) yield* literal(this.source, ">")
    return end
  }

  /** What ends a name that no mark of its own ends. */
  private endsOfBareName(): string[] {
    const { call: tags, parameter, wrapper, fillers = [] } = this.syntax
    const marks = tags.nameEnd.filter((mark) => mark.trim() !== "")
    return [...marks, ...parameter.open, ...tags.close, ...(wrapper?.close ?? []), ...fillers, "\n", ">", "{"]
  }

  private *cutOffInName(): Scan<boolean> {
    if ((yield* this.source.wait()) !== END || this.source.offset === this.context.start) return false
    this.commit()
    this.call.cutOff("the call")
    return true
  }

  private *skipAttributes(): Scan<undefined> {
    const { attributesEnd, id } = this.syntax.call
    if (attributesEnd === undefined) return
    const attributes = yield* textUntil(this.source, [attributesEnd], LONGEST_NAME)
    if (attributes === undefined) return
    yield* literal(this.source, attributesEnd)
    const said = id === undefined ? "" : attributeIn(attributes, id)
    if (said !== "") this.call.id = decodeEntities(said)
  }

  /**
   * The name as written where it stands alone, as an attribute says it where it is one, or where such a tool is on
   * offer.
   */
  private nameOf(written: string): string {
    const said = attributeText(written)
    const { idBefore, open } = this.syntax.call
    const attribute = (idBefore ?? open[0])?.endsWith('"') === true
    return attribute || this.tools?.has(said) === true ? said : written.trim()
  }

  /** All arguments as one object, in place of the parameters. */
  private *readObject(): Scan<boolean> {
    const { source, call, context } = this
    if ((yield* this.skipFiller()) !== BRACE) return false
    this.commit()
    const outcome = yield* scanValue(source, JSON_NOTATION, call, context.closers)
    if (outcome === "done") {
      yield* skipSpace(source)
      yield* anyLiteral(source, this.syntax.call.close)
      call.repaired("an object in place of parameters")
    }
    yield* settle(source, call, outcome, context.closers, "The arguments are not valid JSON.")
    return true
  }

  private *nextPart(): Scan<Part> {
    const { source, call, syntax } = this
    for (;;) {
      const code = yield* this.skipFiller()
      const closes = this.alike && (yield* stands(source, this.ends))
      if (!closes && (yield* anyLiteral(source, syntax.parameter.open)) !== undefined) {
        this.commit()
        return "parameter"
      }
      if (!this.committed) {
        const ends = [...syntax.call.close, ...(syntax.wrapper?.close ?? [])]
        if (code !== END && !(yield* stands(source, ends))) return "text"
        this.commit()
      }
      if ((yield* anyLiteral(source, syntax.call.close)) !== undefined) return "end"
      if (yield* stands(source, this.behind)) {
        if (syntax.call.close.length > 0) call.repaired(`a missing '${syntax.call.close[0] ?? ""}'`)
        return "end"
      }
      if (code === END) return "early"
      // text that belongs to nothing
      call.repaired("text between parameters")
      yield* resync(source, this.after)
    }
  }

  /** Goes past white space, and what else means nothing here. */
  private *skipFiller(): Scan<number> {
    const { source, syntax } = this
    let code = yield* skipSpace(source)
    while (syntax.fillers !== undefined && (yield* anyLiteral(source, syntax.fillers)) !== undefined)
      code = yield* skipSpace(source)
    return code
  }

  /**
   * The reply is over before the call is: it counts only where no further parameter can have been meant, since a call
   * with fewer arguments is another call.
   */
  private endEarly(): true {
    const { call, seen } = this
    const { properties = {}, additionalProperties } = call.tool?.parameters ?? {}
    const complete = seen.size > 0 && Object.keys(properties).every((key) => seen.has(key))
    const open = call.tool === undefined || additionalProperties === true || typeof additionalProperties === "object"
    if (!complete || open) call.cutOff("the call")
    else {
      call.write("}")
      call.finish({ kind: "unterminated-call", message: "The reply ends before the call's closing mark." })
    }
    return true
  }

  /** A parameter does not end. */
  private *giveUp(): Scan<undefined> {
    const { source, call, context } = this
    if ((yield* source.wait()) === END) call.cutOff("a parameter")
    else {
      yield* resync(source, context.closers)
      call.fail("unterminated-call", "A parameter does not end.")
    }
  }

  private *readParameter(): Scan<boolean> {
    const key = yield* this.readKey()
    if (key === undefined) return false
    if (key.alone === "without a value") {
      this.call.repaired(`the key '${key.name}' without a value`)
      return true
    }
    return yield* this.readKeyed(key)
  }

  /** The value of a key, written as the argument that it is. */
  private *readKeyed(key: Key): Scan<boolean> {
    const { call, seen } = this
    const typing = typingOf(call.tool, key.name)
    const asJson = typing === undefined && this.syntax.untyped === "json"
    const text = isSaidText(key.said, typing) && !asJson
    const whole = this.mayBeWhole(key) && seen.size === 0 && typing === undefined
    if (!whole) call.write(`${seen.size === 0 ? "{" : ","}"${escapeText(key.name)}":${text ? '"' : ""}`)
    seen.add(key.name)
    let buffered = ""
    const write = (piece: string) => {
      if (text) call.write(escapeText(piece))
      else buffered += piece
    }
    if (key.alone === undefined && !(yield* this.readValue(key.name, write))) return false
    if (text) call.write('"')
    else if (whole) this.writeWhole(buffered)
    else call.write(this.valueOf(buffered, key.said, asJson ? ANYTHING : typing))
    return true
  }

  private *readKey(): Scan<Key | undefined> {
    const { source, syntax } = this
    const { parameter, typed, typeTag } = syntax
    const text = yield* textUntil(source, typed === undefined ? parameter.keyEnd : ['"'], LONGEST_KEY)
    if (text === undefined) return undefined
    const name = this.keyOf(text)
    if (typed !== undefined) {
      source.at++
      const said = yield* this.readAttribute(typed)
      return said === undefined ? undefined : { name, said: said === "" ? undefined : said, alone: undefined }
    }
    const end = yield* anyLiteral(source, parameter.keyEnd)
    if (end?.endsWith("/>") === true) return { name, said: undefined, alone: "closed" }
    if (typeTag !== undefined && end === typeTag.open) {
      const said = yield* textUntil(source, [typeTag.close], LONGEST_KEY)
      if (said === undefined) return undefined
      yield* literal(source, typeTag.close)
      return { name, said: said.trim(), alone: undefined }
    }
    const lacksValue = end !== undefined && end === syntax.valueless && (yield* looksAt(source, this.after))
    return { name, said: undefined, alone: lacksValue ? "without a value" : undefined }
  }

  /**
   * The key as written where it stands alone, as an attribute says it where it is one; the tool's own where it has it.
   */
  private keyOf(text: string): string {
    const { tool } = this.call
    const written = this.syntax.parameter.open[0]?.endsWith('"') === true ? attributeText(text) : text
    const isTrimmed = typingOf(tool, written) === undefined && typingOf(tool, written.trim()) !== undefined
    return isTrimmed ? written.trim() : written
  }

  /** What the attribute behind a key says; empty where it says nothing, undefined where the tag does not end. */
  private *readAttribute({ attribute, end }: { attribute: string; end: string }): Scan<string | undefined> {
    const attributes = yield* textUntil(this.source, [end], LONGEST_KEY)
    if (attributes === undefined) return undefined
    yield* literal(this.source, end)
    return attributeIn(attributes, attribute)
  }

  private *readValue(key: string, write: (piece: string) => void): Scan<boolean> {
    const { source, syntax } = this
    if (syntax.framed === true) {
      if ((yield* source.wait()) === 13) source.at++
      if ((yield* source.wait()) === 10) source.at++
    }
    const closes = syntax.parameter.close.map((mark) => closeOf(mark, key))
    const ends = () => this.valueEnds(closes)
    if (syntax.cdata !== true || !(yield* literal(source, "<![CDATA["))) {
      const beginnings = new Beginnings([...closes, ...this.after])
      if (syntax.cdata !== true) return yield* scanText(source, beginnings, ends, syntax.framed === true, write)
      let text = ""
      if (!(yield* scanText(source, beginnings, ends, false, (piece) => (text += piece)))) return false
      write(decodeEntities(text))
      return true
    }
    if (!(yield* scanText(source, new Beginnings(["]]>"]), () => literal(source, "]]>"), false, write))) return false
    yield* anyLiteral(source, closes)
    return true
  }

  /** Whether one parameter may hold all of the arguments: it is no text, and where nothing says so, no tool's own. */
  private mayBeWhole(key: Key): boolean {
    const isUntold = this.syntax.untyped === "json" && this.call.tool !== undefined
    return WHOLE.has(key.name) && (key.said === "false" || isUntold)
  }

  /** One parameter that holds all of the arguments. */
  private writeWhole(text: string): void {
    const { call } = this
    const object = coerce(text, { schema: { type: "object" }, root: {} })
    call.complete = object.startsWith("{")
    const typed = call.complete ? transcode(object, JSON_NOTATION, () => {}, call.types) : undefined
    call.write(call.complete ? (typed ?? object) : `{"arguments":${object}`)
  }

  private valueOf(text: string, said: string | undefined, typing: Typing | undefined): string {
    const repaired = (what: string) => this.call.repaired(what)
    if (typing !== undefined && said !== undefined && isText(typing)) {
      // said to be JSON: then a text stands in quotes
      const json = transcode(text, JSON_NOTATION)
      if (json?.startsWith('"') === true) return json
    }
    return coerce(text, typing ?? (said === undefined ? undefined : { schema: {}, root: {} }), repaired)
  }

  /** Whether the value ends here: at its closing mark, or at what comes after where that is missing. */
  private *valueEnds(closes: readonly string[]): Scan<boolean> {
    const { source } = this
    const start = source.mark()
    let ends = false
    if ((yield* anyLiteral(source, closes)) !== undefined) {
      const behind = source.offset
      ends = (yield* this.skipFiller()) === END || (yield* stands(source, this.after))
      source.rewind(ends ? behind : start)
    } else {
      ends = yield* this.nextBegins()
      source.rewind(start)
    }
    source.release()
    return ends
  }

  /** Whether what can only come after a value stands here, its closing mark missing. */
  private *nextBegins(): Scan<boolean> {
    const { source, call, seen } = this
    const { parameter, call: tags, wrapper, typed } = this.syntax
    const closes = this.alike && (yield* stands(source, this.ends))
    if (!closes && (yield* anyLiteral(source, parameter.open)) !== undefined) {
      const key = yield* textUntil(source, typed === undefined ? parameter.keyEnd : ['"'], 64)
      return key !== undefined && !seen.has(key) && typingOf(call.tool, key) !== undefined
    }
    if ((yield* anyLiteral(source, tags.close)) !== undefined)
      return (yield* skipSpace(source)) === END || (yield* stands(source, this.behind))
    if ((yield* anyLiteral(source, wrapper?.close ?? [])) !== undefined)
      return (yield* skipSpace(source)) === END || (yield* looksAt(source, wrapper?.open ?? []))
    return false
  }
}
