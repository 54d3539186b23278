import type { ChatMessage } from "@toolwright/toolformat"
import { lastRequest } from "./prompt.ts"

/** Words and marks that join commands, or make one of what is copied. */
const JOINING = new RegExp(
  [
    String.raw`\b(and|then|after|afterwards?|also|plus|next|finally|later|before|once|when)\b`,
    String.raw`\b(secondly|step|followed|subsequently)\b|^(please )?first\b`,
    String.raw`[,;&+]|->|[.!?]\s+\S`,
  ].join("|"),
  "i",
)
const FILE_NAME = /^[~.\w-]*\/[\w./*-]+$|^[\w-]*\.[a-z]\w{0,9}$/i

/** Failures that the same call would bring again. */
const REFUSED = /^Error: .*(needs approval|not approved|denied|not available)/i

/**
 * Whether a request was one command, and is done: what follows is words. A model as small as this takes what it reads
 * for something to do, so after a plain "show me a.txt" it gets no second call, whatever stands in a.txt. What was
 * refused is not tried again; other failures may be mended, a folder may be filled, and where two files are named one
 * may have to be read for the other.
 */
export function isDone(messages: readonly ChatMessage[]): boolean {
  const { request, steps } = lastRequest(messages)
  const last = steps.at(-1)
  if (last === undefined) return false
  if (last.result.startsWith("Error: ")) return REFUSED.test(last.result)
  if (last.tool === "create_directory") return false
  return !JOINING.test(request) && fileNames(request) < 2
}

function fileNames(request: string): number {
  const words = request.split(/[\s"'`()]+/).map((word) => word.replace(/[.,;:!?]+$/, ""))
  return new Set(words.filter((word) => FILE_NAME.test(word))).size
}

/** GBNF of a reply that is no call. */
export const WORDS_ONLY = "root ::= [^<{] [^<]{0,300}"
