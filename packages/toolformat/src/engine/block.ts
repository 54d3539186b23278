import { codecOf } from "./codecs/index.ts"
import type { ParseProblem } from "../model/formatter.ts"
import type { Candidate } from "./markers.ts"
import { anyLiteral, isSpace, literal } from "./scanning.ts"
import type { Session } from "./session.ts"
import { END, STARVED, type Scan } from "./source.ts"
import type { CallSyntax } from "./syntax.ts"

/** Calls that stand together, as they are read. */
interface Block {
  readonly session: Session
  readonly candidate: Candidate
  /** Offset of the mark. */
  readonly start: number
  /** What can end a call here. */
  readonly closers: readonly string[]
  readonly commit: () => void
  calls: number
  /** Whether a list's opening bracket stood before a call. */
  bracket: boolean
  /** Whether it is sure that calls stand here. */
  committed: boolean
}

/**
 * Reads the calls that begin at a mark: one or several, in a wrapper or without.
 *
 * @param start offset of the mark; the text from there on must still be at hand
 * @param commit called once, as soon as it is sure that calls stand here
 * @returns false when none does; nothing was written then, and the place is of no matter
 */
export function* readBlock(session: Session, candidate: Candidate, start: number, commit: () => void): Scan<boolean> {
  const { source } = session
  if (candidate.via !== "wrapper") source.rewind(start)
  else if (!(yield* literal(source, candidate.rest))) return false
  const closers = closersOf(candidate.syntax)
  const block: Block = { session, candidate, start, closers, commit, calls: 0, bracket: false, committed: false }
  while (yield* readNext(block));
  if (!block.committed) return false
  yield* closeBlock(block)
  return true
}

function closersOf(syntax: CallSyntax): string[] {
  const codec = codecOf(syntax)
  const { wrapper } = syntax
  return [...(wrapper?.close ?? []), ...codec.marks(syntax), ...codec.openings(syntax), ...(wrapper?.open ?? [])]
}

/** Reads the next call, if one stands here. @returns whether another may follow */
function* readNext(block: Block): Scan<boolean> {
  const { session, candidate } = block
  const { source } = session
  const { syntax, via } = candidate
  const codec = codecOf(syntax)
  const before = source.mark()
  const mayFollow = block.calls > 0 || via === "wrapper" || via === "bare"
  const punctuation = mayFollow ? yield* skipBetween(session, codec.between) : ""
  block.bracket ||= punctuation.includes("[")
  const start = source.offset
  const read = yield* codec.read(session, syntax, {
    start,
    closers: block.closers,
    bare: via === "bare" && !block.committed,
    wrapped: via === "wrapper",
    started: block.committed,
    atStart: via === "start" && (block.calls === 0 || isUnmarked(syntax)),
    commit: () => {
      commitOnce(block)
      session.account("framing", start)
    },
  })
  if (!read) source.rewind(before)
  source.release()
  if (!read) return false
  block.calls++
  return source.offset !== start
}

/** Whether a server took all marks away, so that further calls stand without them too. */
function isUnmarked(syntax: CallSyntax): boolean {
  return syntax.codec === "named" && syntax.atStart === "before its object"
}

function commitOnce(block: Block): void {
  if (block.committed) return
  block.committed = true
  block.commit()
  const { session, candidate, start } = block
  const fault = faultOf(candidate)
  if (fault !== undefined) session.problem({ ...fault, at: start, text: session.source.since(start), repaired: true })
}

/** What is wrong with how a call begins. */
function faultOf({ syntax, foreign, via }: Candidate): Pick<ParseProblem, "kind" | "message"> | undefined {
  if (syntax.recovery === true)
    return { kind: "missing-wrapper", message: "The call stands without the marks around it." }
  if (foreign) return { kind: "foreign-syntax", message: "The call is written in another family's syntax." }
  if (via === "call" && syntax.wrapper !== undefined && syntax.wrapper.openOptional !== true)
    return { kind: "missing-wrapper", message: "The call's opening mark is missing." }
  return undefined
}

function* closeBlock({ session, candidate: { syntax, via }, bracket }: Block): Scan<undefined> {
  const { source } = session
  const { wrapper } = syntax
  const before = source.mark()
  const punctuation = yield* skipBetween(session, trailing(syntax, via === "wrapper" || bracket))
  const closed = wrapper !== undefined && (yield* anyLiteral(source, wrapper.close)) !== undefined
  if (!closed) {
    source.rewind(before)
    if (bracket) while (yield* literal(source, " ]"));
  }
  const at = session.accounted
  session.account("framing", source.offset)
  if (closed && punctuation.includes("}")) {
    const message = "Surplus closing brackets after the call."
    session.problem({ kind: "extra-text", at, text: punctuation, message, repaired: true })
  }
  const isMissing = !closed && via === "wrapper" && !wrapper?.closeOptional
  if (isMissing && !(yield* saidItBrokeOff(session))) {
    const message = `The closing mark '${wrapper?.close[0] ?? ""}' is missing.`
    const openings = codecOf(syntax).openings(syntax)
    session.problemUnlessCutOff({ kind: "unterminated-call", at, text: "", message, repaired: true }, openings)
  }
  source.release()
}

/** Punctuation that may stand behind the last call. */
function trailing(syntax: CallSyntax, isEnclosed: boolean): string {
  if (codecOf(syntax).between === "") return "}"
  return isEnclosed ? "],;}" : ""
}

/** Whether the reply ended in the call, which has been told then. */
function* saidItBrokeOff(session: Session): Scan<boolean> {
  return session.problemAt === session.source.offset && (yield* session.source.wait()) === END
}

/** Skips white space and the given punctuation; answers the punctuation. */
function* skipBetween(session: Session, punctuation: string): Scan<string> {
  const { source } = session
  let found = ""
  for (;;) {
    let code = source.peek()
    if (code === STARVED) code = yield* source.wait()
    if (code === END) return found
    const unit = String.fromCharCode(code)
    if (punctuation.includes(unit)) found += unit
    else if (!isSpace(code)) return found
    source.at++
  }
}
