import { fork } from "node:child_process"
import { getCompileCacheDir } from "node:module"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { failure, messageOf, type ToolResult } from "@toolwright/toolbox"
import type { ExtractReply } from "./extract-child.ts"
import type { Extracted, ExtractRequest } from "./html-to-markdown.ts"
import type { WebscrapeConfig } from "./scrape-config.ts"

const CHILD = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./extract-child.ts" : "./extract-child.js", import.meta.url),
)

/** Most of what a page may leave behind in the time that it has: short-lived objects, in MiB. */
const YOUNG_MB = 32

/**
 * Turns HTML into Markdown in a process of its own, with bounded time and memory and none of our variables: parsers are
 * synchronous, and a page may be made to keep one busy for ever, to use up its memory or its stack, or to bring down
 * what parses it.
 */
export function extractInProcess(
  request: ExtractRequest,
  config: WebscrapeConfig,
  signal: AbortSignal,
): Promise<Extracted | ToolResult> {
  const extractMs = config.extractMs ?? 10_000
  const memoryMb = config.extractMemoryMb ?? 192
  const child = fork(CHILD, {
    execArgv: [...inherited(), `--max-old-space-size=${memoryMb}`, `--max-semi-space-size=${YOUNG_MB / 2}`],
    env: compiledBefore(),
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
  })
  return new Promise((resolve) => {
    const finish = (result: Extracted | ToolResult) => {
      clearTimeout(timer)
      signal.removeEventListener("abort", onAbort)
      child.kill("SIGKILL")
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
    child.once("message", (reply: ExtractReply) => {
      if (reply.ok) finish(reply.value)
      else failed("PAGE_UNREADABLE", `it could not be turned into text (${reply.message}).`)
    })
    child.once("error", (thrown) =>
      failed("PAGE_UNREADABLE", `it could not be turned into text (${messageOf(thrown)}).`),
    )
    child.once("exit", (code, signal) =>
      failed(
        "PAGE_TOO_COMPLEX",
        `the process that read it ended before it was through (${signal ?? code}); it had ${memoryMb} MiB of memory.`,
      ),
    )
    child.send({ ...request, limitMs: extractMs }, () => undefined)
  })
}

/** Where compiled code is kept, if it is: reading the parsers anew takes longer than reading most pages. */
function compiledBefore(): NodeJS.ProcessEnv {
  const kept = getCompileCacheDir()
  return kept === undefined ? {} : { NODE_COMPILE_CACHE: dirname(kept) }
}

/** What our own process was started with, but for what would make its child wait for a debugger. */
function inherited(): string[] {
  return process.execArgv.filter((option) => !option.startsWith("--inspect"))
}
