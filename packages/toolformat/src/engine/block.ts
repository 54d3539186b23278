import { codecOf } from "./codecs/index.ts"
import type { Candidate } from "./markers.ts"
import { anyLiteral, isSpace, literal } from "./scanning.ts"
import type { Session } from "./session.ts"
import { END, STARVED, type Scan } from "./source.ts"

/**
 * Reads the calls that begin at a mark: one or several, in a wrapper or without.
 *
 * @param start offset of the mark; the text from there on must still be at hand
 * @param commit called once, as soon as it is sure that calls stand here
 * @returns false when none does; nothing was written then, and the place is of no matter
 */
export function* readBlock(session: Session, candidate: Candidate, start: number, commit: () => void): Scan<boolean> {
  const { source } = session
  const { syntax, via } = candidate
  const codec = codecOf(syntax)
  const wrapper = syntax.wrapper
  const wrapped = via === "wrapper"
  if (wrapped ? !(yield* literal(source, candidate.rest)) : false) return false
  if (!wrapped) source.rewind(start)
  const openings = codec.openings(syntax)
  const closers = [...(wrapper?.close ?? []), ...codec.marks(syntax), ...openings, ...(wrapper?.open ?? [])]
  const bare = via === "bare"
  let committed = false
  let calls = 0
  let bracket = false
  for (;;) {
    const before = source.mark()
    const punctuation = calls > 0 || wrapped || bare ? yield* skipBetween(session, codec.between) : ""
    bracket ||= punctuation.includes("[")
    const callStart = source.offset
    const read = yield* codec.read(session, syntax, {
      start: callStart,
      closers,
      bare: bare && !committed,
      wrapped,
      started: committed,
      atStart: via === "start" && calls === 0,
      commit: () => {
        if (!committed) {
          committed = true
          commit()
          if (syntax.recovery === true) report("missing-wrapper", "The call stands without the marks around it.")
          else if (candidate.foreign) report("foreign-syntax", "The call is written in another family's syntax.")
          else if (via === "call" && wrapper !== undefined && wrapper.openOptional !== true)
            report("missing-wrapper", "The call's opening mark is missing.")
        }
        session.account("framing", callStart)
      },
    })
    if (!read) source.rewind(before)
    source.release()
    if (!read) break
    calls++
    if (source.offset === callStart) break
  }
  if (!committed) return false
  yield* closeBlock(session, candidate, bracket)
  return true

  function report(kind: "foreign-syntax" | "missing-wrapper", message: string): void {
    session.problem({ kind, at: start, text: source.since(start), message, repaired: true })
  }
}

function* closeBlock(session: Session, { syntax, via }: Candidate, bracket: boolean): Scan<undefined> {
  const { source } = session
  const wrapper = syntax.wrapper
  const before = source.mark()
  const punctuation = yield* skipBetween(
    session,
    codecOf(syntax).between === "" ? "}" : via === "wrapper" || bracket ? "],;}" : "",
  )
  const closed = wrapper !== undefined && (yield* anyLiteral(source, wrapper.close)) !== undefined
  if (!closed) {
    source.rewind(before)
    if (bracket) while (yield* literal(source, " ]"));
  }
  const at = session.accounted
  session.account("framing", source.offset)
  if (closed && punctuation.includes("}"))
    session.problem({
      kind: "extra-text",
      at,
      text: punctuation,
      message: "Surplus closing brackets after the call.",
      repaired: true,
    })
  // a reply that broke off in the call has said so already
  const told = session.problemAt === source.offset && (yield* source.wait()) === END
  if (!closed && via === "wrapper" && !wrapper?.closeOptional && !told) {
    session.problem({
      kind: "unterminated-call",
      at,
      text: "",
      message: `The closing mark '${wrapper?.close[0] ?? ""}' is missing.`,
      repaired: true,
    })
  }
  source.release()
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
