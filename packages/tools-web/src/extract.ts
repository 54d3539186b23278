import { Worker } from "node:worker_threads"
import { failure, messageOf, type ToolResult } from "@toolwright/toolbox"
import type { WebscrapeConfig } from "./scrape-config.ts"

/** A page to turn into text. */
export interface ExtractRequest {
  html: string
  url: string
  mode: "article" | "full"
}

/** What a page says. */
export interface Extracted {
  title: string
  markdown: string
  byline?: string
  published?: string
}

const WORKER = new URL(import.meta.url.endsWith(".ts") ? "./extract-worker.ts" : "./extract-worker.js", import.meta.url)

/**
 * Turns HTML into Markdown in a thread of its own, with bounded time and memory: parsers are synchronous, and a page
 * may be
 * made to keep one busy for ever.
 */
export function extractInWorker(
  request: ExtractRequest,
  config: WebscrapeConfig,
  signal: AbortSignal,
): Promise<Extracted | ToolResult> {
  const extractMs = config.extractMs ?? 10_000
  const memoryMb = config.extractMemoryMb ?? 192
  const worker = new Worker(WORKER, {
    workerData: request,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
    stdout: true,
    stderr: true,
  })
  return new Promise((resolve) => {
    const finish = (result: Extracted | ToolResult) => {
      clearTimeout(timer)
      signal.removeEventListener("abort", onAbort)
      void worker.terminate()
      resolve(result)
    }
    const failed = (code: string, message: string) =>
      finish(
        failure({
          code,
          message: `${request.url} was fetched, but ${message}`,
          hint: "Look for another page on the same subject.",
        }),
      )
    const onAbort = () => failed("ABORTED", "reading it was cancelled.")
    const timer = setTimeout(
      () => failed("PAGE_TOO_COMPLEX", `turning it into text took longer than ${extractMs} ms.`),
      extractMs,
    )
    signal.addEventListener("abort", onAbort, { once: true })
    if (signal.aborted) onAbort()
    worker.once("message", finish)
    worker.once("error", (thrown: NodeJS.ErrnoException) => {
      if (thrown.code === "ERR_WORKER_OUT_OF_MEMORY")
        failed("PAGE_TOO_COMPLEX", `turning it into text needs more than ${memoryMb} MiB of memory.`)
      else failed("PAGE_UNREADABLE", `it could not be turned into text (${messageOf(thrown)}).`)
    })
    worker.once("exit", () => failed("PAGE_UNREADABLE", "it could not be turned into text."))
  })
}
