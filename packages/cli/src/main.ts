/** The process: streams, signals and exit code around `runCommandLine`. */
import { runCommandLine } from "./command-line.ts"
import { NOBODY_READS, type Invocation } from "./command.ts"

/** How long what was said last may wait for its reader after an interrupt, in milliseconds. */
const LAST_WORDS_MS = 5000

const controller = new AbortController()
let interruptedAt: number | undefined
let readsInput = false

// The first signal asks the command to stop; a second one ends the process at once. Two within a quarter of a second
// are one key press that arrived twice, from the terminal and from a parent process.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    const now = performance.now()
    if (interruptedAt === undefined) {
      interruptedAt = now
      controller.abort(new DOMException(`Interrupted by ${signal}`, "AbortError"))
    } else if (now - interruptedAt > 250) {
      process.exit(130)
    }
  })
}

// A reader that closes the pipe early (`| head`) ends what goes on, as an interrupt does: a run ends on record, and
// what only shows something has shown it.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error
    controller.abort(NOBODY_READS)
  })
}

const invocation: Omit<Invocation, "args"> = {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: {
    [Symbol.asyncIterator]: () => {
      readsInput = true
      return process.stdin[Symbol.asyncIterator]()
    },
  },
  env: process.env,
  cwd: process.cwd(),
  signal: controller.signal,
  leave: () => controller.abort(NOBODY_READS),
  isTTY: {
    get stdin() {
      return process.stdin.isTTY === true
    },
    stdout: process.stdout.isTTY === true,
    stderr: process.stderr.isTTY === true,
  },
}
const run = (): Promise<number> => runCommandLine(process.argv.slice(2), invocation)
process.exitCode = await (process.env.TRACEPARENT === undefined ? run() : asPartOfTrace(run))

// A pipe that nobody reads any more must not keep the process.
if (readsInput) process.stdin.destroy()
// Nor may what a tool leaves behind (a timer, a connection), or one that heeds no cancelling; what was said before is
// still written, where it is read.
process.stdout.write("", () => process.stderr.write("", () => process.exit()))
if (controller.signal.aborted) leaveSoon()
else controller.signal.addEventListener("abort", leaveSoon)

function leaveSoon(): void {
  setTimeout(() => process.exit(), LAST_WORDS_MS)
}

/** Whoever starts commands as part of a trace says so in the environment. */
async function asPartOfTrace<Result>(work: () => Promise<Result>): Promise<Result> {
  const { readTrace, withTrace } = await import("@toolwright/toolbox")
  return withTrace(
    readTrace((name) => process.env[name.toUpperCase()]),
    work,
  )
}
