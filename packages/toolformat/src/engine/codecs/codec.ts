import type { ToolCall, ToolDefinition } from "@toolwright/toolbox"
import type { CallWriter } from "../call-writer.ts"
import type { Session } from "../session.ts"
import { END, STARVED, type Scan, type Source } from "../source.ts"
import { stands } from "../scanning.ts"
import type { CallSyntax } from "../syntax.ts"
import type { Outcome } from "../value-notation.ts"

/** Where and how one call is read. */
export interface ReadContext {
  /** Offset of the call's first code unit. */
  start: number
  /**
   * Marks that end the call, its wrapper, or begin the next one: where reading goes on after a call that cannot be
   * read.
   */
  closers: readonly string[]
  /** Nothing marks the call, so only what can be nothing else is one. */
  bare: boolean
  /** The call stands in its wrapper. */
  wrapped: boolean
  /** Calls were read before this one, in the same place. */
  started: boolean
  /** The call stands at the very beginning of the reply, its opening mark in the prompt. */
  atStart: boolean
  /** To be called once the codec is sure that this is a call, before anything is written. */
  commit(): void
}

/** How one kind of call syntax is read and printed. */
export interface Codec<Syntax extends CallSyntax> {
  /** Marks with which a call itself begins, beside those of its wrapper. */
  openings(syntax: Syntax): readonly string[]
  /** Further marks of a call, which are stray where no call stands. */
  marks(syntax: Syntax): readonly string[]
  /** Punctuation between calls. */
  between: string
  /**
   * Reads one call from its first code unit on.
   *
   * @returns false when this is not such a call; nothing was committed or written then, and the place is of no matter
   */
  read(session: Session, syntax: Syntax, context: ReadContext): Scan<boolean>
  /** The call in the family's syntax, without its wrapper. `index` is its place among the calls of a reply. */
  print(call: ToolCall, syntax: Syntax, tool: ToolDefinition | undefined, index: number): string
}

/** Ends a call as its arguments ended; goes on to the next mark where they cannot be read. */
export function* settle(
  source: Source,
  call: CallWriter,
  outcome: Outcome,
  closers: readonly string[],
  wrong: string,
): Scan<undefined> {
  if (outcome === "done") call.finish()
  else if (outcome === "open") call.cutOff("the call")
  else {
    yield* resync(source, closers)
    call.fail("invalid-arguments", wrong)
  }
}

/** Goes on to the next mark, or to the end of the reply. */
export function* resync(source: Source, marks: readonly string[]): Scan<undefined> {
  const firsts = new Set(marks.map((mark) => mark.charCodeAt(0)))
  for (;;) {
    let code = source.peek()
    if (code === STARVED) code = yield* source.wait()
    if (code === END) return
    if (firsts.has(code) && (yield* stands(source, marks))) return
    source.at++
  }
}
