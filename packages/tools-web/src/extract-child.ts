import { flushCompileCache } from "node:module"
import { Script } from "node:vm"
import { type Extracted, type ExtractRequest, htmlToMarkdown } from "./html-to-markdown.ts"

/** What this process answers: the page as text, or why it could not be had. */
export type ExtractReply = { ok: true; value: Extracted } | { ok: false; message: string }

process.once("message", ({ limitMs, ...request }: ExtractRequest & { limitMs: number }) => {
  const answer = reply(request, limitMs)
  // Whoever asked ends this process at the answer: what was compiled is kept for the next one before that.
  flushCompileCache()
  process.send?.(answer, () => process.disconnect())
})

function reply(request: ExtractRequest, limitMs: number): ExtractReply {
  try {
    return { ok: true, value: within(limitMs, () => htmlToMarkdown(request)) }
  } catch (thrown) {
    return { ok: false, message: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}

/** Ends what is busy for too long even where nobody is left to end this process. */
function within<T>(limitMs: number, work: () => T): T {
  const shared = globalThis as { work?: () => T }
  shared.work = work
  return new Script("globalThis.work()").runInThisContext({ timeout: limitMs }) as T
}
