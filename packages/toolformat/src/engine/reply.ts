import { readBlock } from "./block.ts"
import type { Candidate, Found, Mark, MarkTables } from "./markers.ts"
import type { Session } from "./session.ts"
import { anyLiteral, isSpace, skipSpace, textUntil } from "./scanning.ts"
import { END, type Scan } from "./source.ts"

/** Longest header of a message, in code units. */
const LONGEST_HEADER = 200
const COLON = 58

/**
 * Reads a whole reply: content, reasoning, and the calls in both. This is the only loop over the text; whatever can
 * begin at a
 * mark is read from there, and where nothing does, the text goes on as text.
 */
export function* readReply(session: Session, tables: MarkTables, startsInReasoning: boolean): Scan<undefined> {
  const { source } = session
  let mode: "content" | "reasoning" = startsInReasoning ? "reasoning" : "content"
  /** White space at the end of what was said: part of the text, or of a mark that follows. */
  let space = ""
  /** White space that follows is a mark's. */
  let trim = startsInReasoning
  let lineStart = true
  /** The last code unit of the text that is not white space. */
  let lastSaid = 0
  /** Something was said in this mode: content at all, or in this stretch of reasoning. */
  let said = false
  let contentSaid = false
  /** A fenced call was found, so single lines are no calls any more. */
  let fenced = false

  yield* begin()
  for (;;) {
    const table = mode === "content" ? tables.content : tables.reasoning
    const { text, at } = source
    let end = at
    while (end < text.length && !table.begins(text.charCodeAt(end))) end++
    source.at = end
    if (end > at) plain(text.slice(at, end))
    if (end === text.length) {
      while (source.at >= source.text.length && !source.ended) yield
      if (source.at >= source.text.length) break
      continue
    }
    const start = source.mark()
    const marks = yield* table.read(source)
    if (!(yield* followAny(marks, start))) {
      source.rewind(start)
      const unit = source.text[source.at] ?? ""
      source.at++
      plain(unit)
    }
    source.release()
  }
  finish()

  /** Text that is no mark. White space before a mark, or after one while nothing was said yet, is the mark's. */
  function plain(text: string): void {
    // most pieces of text are nothing but text
    if (!isSpace(text.charCodeAt(text.length - 1)) && (said || !trim)) {
      session.say(mode, space === "" ? text : space + text)
      space = ""
      trim = lineStart = false
      said = true
      lastSaid = text.charCodeAt(text.length - 1)
      return
    }
    const leading = text.length - text.trimStart().length
    const body = text.trim()
    if (body !== "") {
      space += text.slice(0, leading)
      if (trim && !said) {
        session.account("framing", session.accounted + space.length)
        space = ""
      }
      session.say(mode, space + body)
      trim = lineStart = false
      said = true
      lastSaid = body.charCodeAt(body.length - 1)
      space = text.slice(leading + body.length)
    } else space += text
    if ((body === "" ? text : space).includes("\n")) lineStart = true
  }

  function dropSpace(): void {
    session.account("framing", session.accounted + space.length)
    space = ""
    trim = true
    lineStart = true
  }

  /** What may stand at the beginning alone, because its mark is in the prompt. */
  function* begin(): Scan<undefined> {
    const framing = session.format.startFraming ?? []
    if (tables.start.length === 0 && framing.length === 0) return
    const start = source.mark()
    yield* skipSpace(source)
    const at = source.offset
    let found = framing.length > 0 && (yield* anyLiteral(source, framing)) !== undefined
    if (found) session.account("framing", source.offset)
    for (const candidate of tables.start) {
      if (!found) {
        source.rewind(at)
        found = yield* readBlock(session, candidate, at, () => session.account("framing", at))
      }
    }
    trim ||= found
    if (!found) source.rewind(start)
    source.release()
  }

  /** Does what the first of several marks says that says anything; false when all turn out to be text. */
  function* followAny(marks: readonly Found[], start: number): Scan<boolean> {
    for (const { mark, end } of marks) {
      for (const candidate of mark.candidates) {
        source.rewind(end)
        if (candidate.via === "bare" && !mayStandHere(candidate)) continue
        if (candidate.via === "bare" && fenced) {
          if (yield* refuseAfterFenced(candidate, start)) return true
        } else if (yield* readBlock(session, candidate, start, () => enterCalls(candidate, start))) {
          trim = true
          lineStart = true
          return true
        }
      }
    }
    for (const { mark, end } of marks) {
      source.rewind(end)
      if (yield* followRole(mark, start)) return true
    }
    return false
  }

  /** Whether an unmarked call may begin at this place of the text. */
  function mayStandHere({ syntax: { bare } }: Candidate): boolean {
    if (lineStart) return true
    return bare === "anywhere" ? session.tools !== undefined : bare === "line-or-colon" && lastSaid === COLON
  }

  /** A call on a line after one in a code block does not count: it stays text, and a problem says so. */
  function* refuseAfterFenced(candidate: Candidate, start: number): Scan<boolean> {
    const found = yield* readBlock(session, candidate, start, () => {
      session.say(mode, trim ? "" : space)
      if (trim) dropSpace()
      space = ""
      session.holdBack(start)
    })
    if (!found) return false
    trim = lineStart = false
    said = true
    takeBack(source.offset, "A call in a fenced block takes the place of calls on single lines.")
    return true
  }

  function enterCalls(candidate: Candidate, start: number): void {
    if (session.format.generic === true && mode === "content") {
      if (candidate.via !== "bare") {
        fenced = true
        if (session.holding) takeBack(start, "A call in a fenced block takes the place of calls on single lines.")
      } else if (!session.holding) {
        dropSpace()
        session.holdBack(start)
      }
    } else if (mode === "reasoning" && session.callsInReasoning === "drop" && !session.holding) {
      session.say(mode, space)
      space = ""
      session.holdBack(start)
    }
    dropSpace()
  }

  /** What was held back turns out to be text. */
  function takeBack(end: number, message: string): void {
    const { at, text, calls } = session.reject(end)
    const body = text.trimEnd()
    session.say(mode, body)
    space = text.slice(body.length)
    for (const call of calls) {
      session.problem({
        kind: mode === "reasoning" ? "call-in-reasoning" : "extra-text",
        at,
        text: body,
        message: `${message} Not called: ${call.name}.`,
        repaired: false,
        shown: true,
      })
    }
  }

  function* followRole({ role, candidates }: Mark, start: number): Scan<boolean> {
    if (role === "header") return yield* followHeader(start)
    if (role === "framing") {
      session.say(mode, trim ? "" : space)
      space = ""
      session.account("framing", source.offset)
      return true
    }
    if (role === "reasoning-open") {
      if (mode === "reasoning") {
        if (said) return false
        dropSpace()
        session.account("framing", source.offset)
        return true
      }
      dropSpace()
      session.account("framing", source.offset)
      contentSaid = said
      said = false
      mode = "reasoning"
      return true
    }
    if (role === "reasoning-close" && mode === "reasoning") {
      if (session.holding) takeBack(start, "The call stands in reasoning that goes on after it.")
      dropSpace()
      session.account("framing", source.offset)
      mode = "content"
      said = contentSaid
      return true
    }
    if (mode === "reasoning") return false
    // a mark in the middle of text is what the text speaks of; one where a call was or should be is a slip
    const opens = candidates.some(
      (candidate) =>
        !candidate.foreign &&
        candidate.rest === "" &&
        candidate.via !== "bare" &&
        candidate.syntax.wrapper?.soft !== true,
    )
    const stray = role === "reasoning-close" || (role === "stray" && trim)
    if (!stray && !(opens && (yield* atEnd()))) return false
    dropSpace()
    session.account("problem", source.offset)
    session.problem({
      kind: "stray-marker",
      at: start,
      text: source.since(start),
      message: "A mark stands where it means nothing.",
      repaired: false,
    })
    return true
  }

  /** Whether nothing but white space follows; reads nothing. */
  function* atEnd(): Scan<boolean> {
    const place = source.mark()
    const ends = (yield* skipSpace(source)) === END
    source.rewind(place)
    source.release()
    return ends
  }

  /** A message's header: it says whether what follows is reasoning. */
  function* followHeader(start: number): Scan<boolean> {
    const headers = session.format.headers
    source.rewind(start)
    const header = headers === undefined ? undefined : yield* textUntil(source, [headers.end], LONGEST_HEADER)
    if (headers === undefined || header === undefined) return false
    yield* anyLiteral(source, [headers.end])
    dropSpace()
    session.account("framing", source.offset)
    const channels = [...header.matchAll(/<\|channel\|>\s*(\w+)/g)]
    const next = headers.reasoning.includes(channels.at(-1)?.[1] ?? "") ? "reasoning" : "content"
    if (next !== mode) {
      if (mode === "content") contentSaid = said
      said = next === "content" && contentSaid
    }
    mode = next
    return true
  }

  function finish(): void {
    if (trim) session.account("framing", session.accounted + space.length)
    else session.say(mode, space)
    const reasoning = mode === "reasoning"
    const held = session.accept()
    if (reasoning && session.callsInReasoning === "drop") {
      for (const call of held)
        session.problem({
          kind: "call-in-reasoning",
          at: session.accounted,
          text: "",
          message: `The reply ends in reasoning, so the call of '${call.name}' in it counts.`,
          repaired: true,
        })
    }
  }
}
