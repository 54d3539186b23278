import { memory } from "@toolwright/toolbox"
import { codecOf } from "./codecs/index.ts"
import { END, STARVED, type Scan, type Source } from "./source.ts"
import type { CallSyntax, Format } from "./syntax.ts"

/** A call syntax that may begin at a mark. */
export interface Candidate {
  syntax: CallSyntax
  /** The mark opens a wrapper, begins a call, is only what an unmarked call begins with, or stands in the prompt. */
  via: "wrapper" | "call" | "bare" | "start"
  /** What of the mark follows its first white space. */
  rest: string
  /** The syntax is another family's. */
  foreign: boolean
}

/** What a mark in the text may mean. */
export interface Mark {
  role?: "framing" | "reasoning-open" | "reasoning-close" | "header" | "stray"
  candidates: Candidate[]
}

interface Node {
  next: Map<number, Node>
  mark?: Mark
}

/** All marks that matter at once, as a tree by code unit. Only text that can still become one of them is held back. */
export class MarkTable {
  private readonly root: Node = { next: new Map() }
  private readonly firsts = new Uint8Array(128)
  /** First code units beyond ASCII; most tables have none. */
  private readonly others = new Set<number>()

  add(text: string): Mark {
    let node = this.root
    const first = text.charCodeAt(0)
    if (first < 128) this.firsts[first] = 1
    else this.others.add(first)
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      let next = node.next.get(code)
      if (next === undefined) node.next.set(code, (next = { next: new Map() }))
      node = next
    }
    return (node.mark ??= { candidates: [] })
  }

  /** The first place from an offset on where a mark may begin, as far as the text shows; its length where none may. */
  find(text: string, from: number): number {
    const { firsts, others } = this
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at)
      const begins = code < 128 ? firsts[code] === 1 : others.size > 0 && others.has(code)
      if (begins && this.standing(text, at) !== "none") return at
    }
    return text.length
  }

  /** Whether a mark stands at a place of the text; undecided where only the text after it tells, or which one. */
  standing(text: string, from: number): "mark" | "none" | "undecided" {
    let node = this.root
    let found = false
    for (let at = from; at < text.length; at++) {
      const next = node.next.get(text.charCodeAt(at))
      if (next === undefined) return found ? "mark" : "none"
      if (next.next.size === 0) return "mark"
      found ||= next.mark !== undefined
      node = next
    }
    return "undecided"
  }

  /**
   * Reads on as far as marks go; answers those that stand here, the longest first. A mark of the source must be set.
   */
  *read(source: Source): Scan<Found[]> {
    let node = this.root
    const found: Found[] = []
    while (node.next.size > 0) {
      let code = source.peek()
      if (code === STARVED) code = yield* source.wait()
      const next = code === END ? undefined : node.next.get(code)
      if (next === undefined) break
      source.at++
      node = next
      if (node.mark !== undefined) found.unshift({ mark: node.mark, end: source.offset })
    }
    return found
  }
}

/** A mark in the text, and the offset behind it. */
export interface Found {
  mark: Mark
  end: number
}

export interface MarkTables {
  content: MarkTable
  reasoning: MarkTable
  /** Syntaxes whose opening mark the prompt may have taken away. */
  start: readonly Candidate[]
}

const tablesOf = memory.derived((_format: Format) => new WeakMap<readonly CallSyntax[], MarkTables>())
/** No other family's syntax, as one list. */
const NONE: readonly CallSyntax[] = []

/**
 * The mark tables of a format, with other families' unmistakable syntaxes as recovery; built once for each list of
 * these.
 */
export function marksOf(format: Format, foreign: readonly CallSyntax[]): MarkTables {
  const known = tablesOf(format)
  const list = foreign.length === 0 ? NONE : foreign
  let made = known.get(list)
  if (made === undefined) known.set(list, (made = build(format, foreign)))
  return made
}

function build(format: Format, foreign: readonly CallSyntax[]): MarkTables {
  const made = { content: new MarkTable(), reasoning: new MarkTable(), start: [] as Candidate[] }
  for (const syntax of format.calls) {
    addCalls(made, format, syntax, false)
    addStrayMarks(made.content, syntax)
  }
  for (const syntax of foreign) addCalls(made, format, syntax, true)
  addFraming(made, format)
  return made
}

/** Where calls of a syntax may begin: in the text, in the thoughts, and at the reply's start. */
function addCalls(
  { content, reasoning, start }: { content: MarkTable; reasoning: MarkTable; start: Candidate[] },
  format: Format,
  syntax: CallSyntax,
  foreign: boolean,
): void {
  // what begins any message of this family begins none of another's calls
  const begins = (text: string): boolean => !(foreign && format.headers?.open.includes(text) === true)
  const add = (table: MarkTable, texts: readonly string[], via: Candidate["via"]): void => {
    for (const text of texts.filter(begins)) {
      const [mark, rest] = atSpace(text)
      table.add(mark).candidates.push({ syntax, via, rest, foreign })
    }
  }
  for (const table of [content, reasoning]) {
    add(table, syntax.wrapper?.open ?? [], "wrapper")
    add(table, codecOf(syntax).openings(syntax), "call")
  }
  if ("atStart" in syntax && syntax.atStart !== undefined) start.push({ syntax, via: "start", rest: "", foreign })
  if (syntax.bare !== undefined) add(content, syntax.codec === "python" ? ["["] : ["{", "["], "bare")
}

/** A mark up to its first white space, and the rest of it. */
function atSpace(text: string): [mark: string, rest: string] {
  const space = text.search(/\s/)
  return space < 0 ? [text, ""] : [text.slice(0, space), text.slice(space)]
}

/** Marks that belong inside calls and mean nothing outside of one. */
function addStrayMarks(content: MarkTable, syntax: CallSyntax): void {
  const closing = syntax.wrapper?.soft === true ? [] : (syntax.wrapper?.close ?? [])
  for (const text of [...closing, ...codecOf(syntax).marks(syntax)])
    if (!/\s/.test(text)) content.add(text).role ??= "stray"
}

function addFraming({ content, reasoning }: { content: MarkTable; reasoning: MarkTable }, format: Format): void {
  for (const text of format.framing ?? []) content.add(text).role = reasoning.add(text).role = "framing"
  for (const text of format.reasoning?.open ?? []) content.add(text).role = reasoning.add(text).role = "reasoning-open"
  for (const text of format.reasoning?.close ?? []) {
    reasoning.add(text).role = "reasoning-close"
    // what ends any message ends none where nothing was thought
    const mark = content.add(text)
    if (mark.role !== "framing") mark.role = "reasoning-close"
  }
  for (const text of format.headers?.open ?? []) content.add(text).role = reasoning.add(text).role = "header"
}
