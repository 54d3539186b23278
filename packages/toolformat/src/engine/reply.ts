import { readBlock } from "./block.ts"
import type { Candidate, Found, Mark, MarkTable, MarkTables } from "./markers.ts"
import type { Session } from "./session.ts"
import { anyLiteral, isSpace, skipSpace, textUntil } from "./scanning.ts"
import { END, type Scan, type Source } from "./source.ts"

/** Longest header of a message, in code units. */
const LONGEST_HEADER = 200
/** What ends a sentence, or leads to what follows: `:`, `.`, `!`, `?`. */
const SENTENCE_ENDS: ReadonlySet<number> = new Set([58, 46, 33, 63])
/** What stands before a mark that the text speaks of. */
const QUOTES: ReadonlySet<number> = new Set([34, 39, 96])

/**
 * Reads a whole reply: content, reasoning, and the calls in both. This is the only loop over the text; whatever can
 * begin at a mark is read from there, and where nothing does, the text goes on as text.
 */
export function readReply(session: Session, tables: MarkTables, startsInReasoning: boolean): Scan<undefined> {
  return new ReplyReader(session, tables, startsInReasoning).read()
}

/** Where the reading of a reply stands. */
class ReplyReader {
  private readonly session: Session
  private readonly source: Source
  private readonly tables: MarkTables
  private mode: "content" | "reasoning"
  /** White space at the end of what was said: part of the text, or of a mark that follows. */
  private space = ""
  /** White space that follows is a mark's. */
  private trim: boolean
  private lineStart = true
  /** The last code unit of the text that is not white space. */
  private lastSaid = 0
  /** Something was said in this mode: content at all, or in this stretch of reasoning. */
  private said = false
  private contentSaid = false
  /** Reasoning had a mark of its own, opening or closing, so that what was said before is no reasoning. */
  private reasoned: boolean
  /** A fenced call was found, so single lines are no calls any more. */
  private fenced = false

  constructor(session: Session, tables: MarkTables, startsInReasoning: boolean) {
    this.session = session
    this.source = session.source
    this.tables = tables
    this.mode = startsInReasoning ? "reasoning" : "content"
    this.trim = this.reasoned = startsInReasoning
  }

  *read(): Scan<undefined> {
    const { source } = this
    yield* this.begin()
    const pass = () => this.pass()
    for (;;) {
      if (pass() && !source.ended) {
        yield* source.more(pass)
        continue
      }
      if (source.at >= source.text.length) break
      const start = source.mark()
      const marks = yield* this.table.read(source)
      if (!(yield* this.followAny(marks, start))) {
        source.rewind(start)
        const unit = source.text[source.at] ?? ""
        source.at++
        this.plain(unit)
      }
      source.release()
    }
    this.finish()
  }

  /** The marks that mean something here. */
  private get table(): MarkTable {
    return this.mode === "content" ? this.tables.content : this.tables.reasoning
  }

  /** Passes text on up to what may be a mark. @returns whether only more text shows what that is */
  private pass(): boolean {
    const { source, table } = this
    const { text, at } = source
    const end = table.find(text, at)
    source.at = end
    if (end > at) this.plain(at === 0 && end === text.length ? text : text.slice(at, end))
    return end === text.length || table.standing(text, end) === "undecided"
  }

  /** Text that is no mark. White space before a mark, or after one while nothing was said yet, is the mark's. */
  private plain(text: string): void {
    // most pieces of text are nothing but text
    if (!isSpace(text.charCodeAt(text.length - 1)) && (this.said || !this.trim)) {
      this.session.say(this.mode, this.space === "" ? text : this.space + text)
      this.space = ""
      this.trim = this.lineStart = false
      this.said = true
      this.lastSaid = text.charCodeAt(text.length - 1)
      return
    }
    const leading = text.length - text.trimStart().length
    const body = text.trim()
    if (body !== "") {
      this.space += text.slice(0, leading)
      if (this.trim && !this.said) {
        this.session.account("framing", this.session.accounted + this.space.length)
        this.space = ""
      }
      this.session.say(this.mode, this.space + body)
      this.trim = this.lineStart = false
      this.said = true
      this.lastSaid = body.charCodeAt(body.length - 1)
      this.space = text.slice(leading + body.length)
    } else this.space += text
    if ((body === "" ? text : this.space).includes("\n")) this.lineStart = true
  }

  private dropSpace(): void {
    this.session.account("framing", this.session.accounted + this.space.length)
    this.space = ""
    this.trim = true
    this.lineStart = true
  }

  /** What may stand at the beginning alone, because its mark is in the prompt. */
  private *begin(): Scan<undefined> {
    const framing = this.session.format.startFraming ?? []
    if (this.tables.start.length === 0 && framing.length === 0) return
    const start = this.source.mark()
    yield* skipSpace(this.source)
    const at = this.source.offset
    let found = framing.length > 0 && (yield* anyLiteral(this.source, framing)) !== undefined
    if (found) this.session.account("framing", this.source.offset)
    for (const candidate of this.tables.start) {
      if (!found) {
        this.source.rewind(at)
        found = yield* readBlock(this.session, candidate, at, () => this.session.account("framing", at))
      }
    }
    this.trim ||= found
    if (!found) this.source.rewind(start)
    this.source.release()
  }

  /** Does what the first of several marks says that says anything; false when all turn out to be text. */
  private *followAny(marks: readonly Found[], start: number): Scan<boolean> {
    for (const { mark, end } of marks) {
      for (const candidate of mark.candidates) {
        this.source.rewind(end)
        if (candidate.via === "bare" && !this.mayStandHere(candidate)) continue
        if (candidate.via === "bare" && this.fenced) {
          if (yield* this.refuseAfterFenced(candidate, start)) return true
        } else if (yield* readBlock(this.session, candidate, start, () => this.enterCalls(candidate, start))) {
          this.trim = true
          this.lineStart = true
          return true
        }
      }
    }
    for (const { mark, end } of marks) {
      this.source.rewind(end)
      if (yield* this.followRole(mark, start)) return true
    }
    return false
  }

  /** Whether an unmarked call may begin at this place of the text. */
  private mayStandHere({ syntax: { bare } }: Candidate): boolean {
    if (this.lineStart) return true
    return bare === "anywhere"
      ? this.session.tools !== undefined
      : bare === "sentence" && SENTENCE_ENDS.has(this.lastSaid)
  }

  /** A call on a line after one in a code block does not count: it stays text, and a problem says so. */
  private *refuseAfterFenced(candidate: Candidate, start: number): Scan<boolean> {
    const found = yield* readBlock(this.session, candidate, start, () => {
      this.session.say(this.mode, this.trim ? "" : this.space)
      if (this.trim) this.dropSpace()
      this.space = ""
      this.session.holdBack(start)
    })
    if (!found) return false
    this.trim = this.lineStart = false
    this.said = true
    this.takeBack(this.source.offset, "A call in a fenced block takes the place of calls on single lines.")
    return true
  }

  private enterCalls(candidate: Candidate, start: number): void {
    if (this.session.format.generic === true && this.mode === "content") {
      if (candidate.via !== "bare") {
        this.fenced = true
        if (this.session.holding)
          this.takeBack(start, "A call in a fenced block takes the place of calls on single lines.")
      } else if (!this.session.holding) {
        this.dropSpace()
        this.session.holdBack(start)
      }
    } else if (this.mode === "reasoning" && this.session.callsInReasoning === "drop" && !this.session.holding) {
      this.session.say(this.mode, this.space)
      this.space = ""
      this.session.holdBack(start)
    }
    this.dropSpace()
  }

  /** What was held back turns out to be text. */
  private takeBack(end: number, message: string): void {
    const { at, text, calls } = this.session.reject(end)
    const body = text.trimEnd()
    this.session.say(this.mode, body)
    this.space = text.slice(body.length)
    for (const call of calls) {
      this.session.problem({
        kind: this.mode === "reasoning" ? "call-in-reasoning" : "extra-text",
        at,
        text: body,
        message: `${message} Not called: ${call.name}.`,
        repaired: false,
        shown: true,
      })
    }
  }

  /** Does what a mark says that begins no call; false where it says nothing here, and is text. */
  private *followRole(mark: Mark, start: number): Scan<boolean> {
    const { role } = mark
    const thinking = this.mode === "reasoning"
    if (role === "header") return yield* this.followHeader(start)
    if (role === "framing") return this.passFraming()
    if (role === "reasoning-open") return this.openReasoning()
    if (role === "reasoning-close" && thinking) return this.closeReasoning(start)
    if (role === "reasoning-close" && !this.reasoned && !QUOTES.has(this.lastSaid)) return this.closeUnopened()
    return !thinking && (yield* this.passStray(mark, start))
  }

  private passFraming(): true {
    this.session.say(this.mode, this.trim ? "" : this.space)
    this.space = ""
    return this.passMark()
  }

  /** The mark that was just read belongs to nothing that is said. */
  private passMark(): true {
    this.session.account("framing", this.source.offset)
    return true
  }

  private openReasoning(): boolean {
    const again = this.mode === "reasoning"
    if (again && this.said) return false
    this.reasoned = true
    this.dropSpace()
    if (!again) {
      this.contentSaid = this.said
      this.said = false
      this.mode = "reasoning"
    }
    return this.passMark()
  }

  private closeReasoning(start: number): true {
    if (this.session.holding) this.takeBack(start, "The call stands in reasoning that goes on after it.")
    this.dropSpace()
    this.mode = "content"
    this.said = this.contentSaid
    return this.passMark()
  }

  /** The closing mark comes first: the prompt had opened the reasoning, and all that was said is reasoning. */
  private closeUnopened(): true {
    this.reasoned = true
    this.dropSpace()
    if (this.said) this.session.takeForReasoning()
    this.said = false
    return this.passMark()
  }

  /** A mark in the middle of text is what the text speaks of; one where a call was or should be is a slip. */
  private *passStray({ role, candidates }: Mark, start: number): Scan<boolean> {
    const opens = candidates.some(
      ({ foreign, rest, via, syntax }) => !foreign && rest === "" && via !== "bare" && syntax.wrapper?.soft !== true,
    )
    const stray = role === "reasoning-close" || (role === "stray" && this.trim)
    if (!stray && !(opens && (yield* this.atEnd()))) return false
    this.dropSpace()
    this.session.account("problem", this.source.offset)
    this.session.problem({
      kind: "stray-marker",
      at: start,
      text: this.source.since(start),
      message: "A mark stands where it means nothing.",
      repaired: false,
    })
    return true
  }

  /** Whether nothing but white space follows; reads nothing. */
  private *atEnd(): Scan<boolean> {
    const place = this.source.mark()
    const ends = (yield* skipSpace(this.source)) === END
    this.source.rewind(place)
    this.source.release()
    return ends
  }

  /** A message's header: it says whether what follows is reasoning. */
  private *followHeader(start: number): Scan<boolean> {
    const headers = this.session.format.headers
    this.source.rewind(start)
    const header = headers === undefined ? undefined : yield* textUntil(this.source, [headers.end], LONGEST_HEADER)
    if (headers === undefined || header === undefined) return false
    const form = headers.form?.exec(header)
    if (form === null) return false
    yield* anyLiteral(this.source, [headers.end])
    this.dropSpace()
    this.session.account("framing", this.source.offset)
    const channel = (form ?? [...header.matchAll(/<\|channel\|>\s*(\w+)/g)].at(-1))?.[1] ?? ""
    const next = headers.reasoning.includes(channel) ? "reasoning" : "content"
    if (next !== this.mode) {
      if (this.mode === "content") this.contentSaid = this.said
      this.said = next === "content" && this.contentSaid
    }
    this.mode = next
    return true
  }

  private finish(): void {
    if (this.trim) this.session.account("framing", this.session.accounted + this.space.length)
    else this.session.say(this.mode, this.space)
    const reasoning = this.mode === "reasoning"
    const held = this.session.accept()
    if (reasoning && this.session.callsInReasoning === "drop") {
      for (const call of held)
        this.session.problem({
          kind: "call-in-reasoning",
          at: this.session.accounted,
          text: "",
          message: `The reply ends in reasoning, so the call of '${call.name}' in it counts.`,
          repaired: true,
        })
    }
  }
}
