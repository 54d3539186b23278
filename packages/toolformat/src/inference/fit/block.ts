import { leadingSpace, sharedEnd, sharedStart, trailingSpace } from "../text.ts"

/** What stands around the cores of one call and of two. */
export interface Around {
  /** Before the core of a single call, and after it. */
  before: string
  after: string
  /** Between the cores of two calls; undefined where a message shows but one. */
  between: string | undefined
}

/** The same, told apart: what belongs to each call, and what to all of them together. */
export interface Block {
  /** Around all calls; empty where each stands alone. */
  open: string
  close: string
  /** Around each call. */
  callOpen: string
  callClose: string
  /** White space and brackets between the outer marks and the calls, and what stands between calls. */
  first: string
  between: string
  last: string
  together: boolean
  /** What is left behind the calls without anything before them that it could close: the end of the turn. */
  turnEnd: string
}

/** Tells marks around each call from marks around all of them, by what comes again between two calls. */
export function splitBlock({ before, after, between }: Around): Block {
  const alone = { open: "", close: "", first: "", last: "", between: "", together: false, turnEnd: "" }
  if (between === undefined) return { ...alone, callOpen: before.trimStart(), callClose: after.trimEnd() }
  const callOpen = leadingSpace(sharedEnd(before, between)).rest
  const rest = between.slice(0, between.length - callOpen.length)
  const callClose = trailingSpace(sharedStart(after, rest)).rest
  const separator = rest.slice(callClose.length)
  const opening = trailingPunctuation(before.slice(0, before.length - callOpen.length))
  const outerClose = after.slice(callClose.length)
  if (opening.rest + opening.cut.trim() === "")
    return { ...alone, callOpen, callClose, between: separator, turnEnd: outerClose.trim() }
  const closing = leadingPunctuation(outerClose, opening.cut)
  return {
    open: opening.rest.trimStart(),
    close: closing.rest.trimEnd(),
    callOpen,
    callClose,
    first: opening.cut,
    between: separator,
    last: closing.cut,
    together: true,
    turnEnd: "",
  }
}

/** Brackets of a list and white space at the end of a text are no part of a mark. */
function trailingPunctuation(text: string): { rest: string; cut: string } {
  const cut = /[\s[]*$/.exec(text)?.[0] ?? ""
  return { rest: text.slice(0, text.length - cut.length), cut }
}

/** Likewise at its beginning, as many as were opened. */
function leadingPunctuation(text: string, opened: string): { rest: string; cut: string } {
  const lists = opened.replaceAll(/[^[]/g, "").length
  const cut = new RegExp(`^(?:\\s*\\]){0,${lists}}\\s*`).exec(text)?.[0] ?? ""
  return { rest: text.slice(cut.length), cut }
}

/** The parts of a call syntax that every codec has, for calls whose core a codec writes whole. */
export function wrapped({ open, close, first, between, last, together, callOpen, callClose }: Block) {
  const outer = together ? { open, close, before: first, after: last } : { ...split(callOpen, callClose) }
  const layout = {
    ...(outer.before === "" ? {} : { before: outer.before }),
    ...(together && between !== "" ? { between } : {}),
    ...(outer.after === "" ? {} : { after: outer.after }),
  }
  return {
    ...(outer.open === ""
      ? { bare: "line" as const }
      : {
          wrapper: {
            open: [outer.open],
            close: outer.close === "" ? [] : [outer.close],
            ...(answers(outer.open, outer.close) ? {} : { closeOptional: true }),
            ...(outer.open.includes("```") ? { soft: true } : {}),
          },
        }),
    ...(Object.keys(layout).length === 0 ? {} : { layout }),
    ...(together ? { together } : { separator: between }),
  }
}

function split(callOpen: string, callClose: string) {
  const opening = trailingPunctuation(callOpen)
  const closing = leadingPunctuation(callClose, opening.cut)
  return { open: opening.rest, close: closing.rest, before: opening.cut, after: closing.cut }
}

/**
 * Whether a closing mark is plainly that of an opening one; another may be what a server takes away at a turn's end.
 */
export function answers(open: string, close: string): boolean {
  const core = (mark: string) =>
    mark.toLowerCase().replaceAll(/begin|end|start|prefix|suffix|open|close|[^\p{L}]/gu, "")
  return close !== "" && core(open).startsWith(core(close))
}
