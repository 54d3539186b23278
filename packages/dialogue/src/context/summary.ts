import type { JsonObject } from "@toolwright/toolbox"
import { ABOUT, type ChatMessage } from "@toolwright/toolformat"
import { bothEnds } from "./parts.ts"

/** How a summary is to be made. */
interface SummaryOptions {
  /** What it is of, in the plural. */
  what: string
  /** Characters that it may have. */
  most: number
  /** Files that were changed, those changed last at the end. */
  changedFiles?: readonly string[]
  /** Failures that stand, where calls outside of the blocks may have mended some. */
  standing?: ReadonlySet<string>
  /** Of calls that are neither failures nor changes nothing is said. */
  brief?: boolean
  /** How what was left out can be read again. */
  recall?: string | undefined
}

/**
 * What is left of blocks that are left out: the files changed, the failures that nothing has mended since, with most of
 * their text, and one line for each thing said or called, the last ones where there are too many.
 * Nothing for no blocks.
 */
export function summaryOf(blocks: readonly ChatMessage[][], options: SummaryOptions): ChatMessage[] {
  if (blocks.length === 0) return []
  const { what, most, brief = false, changedFiles = [], recall } = options
  const messages = blocks.flat()
  const changed = changedFiles.length === 0 ? "" : `Files changed so far: ${lastOf(changedFiles, most / 4, ", ")}`
  const failures = failuresIn(messages, options.standing ?? standingFailures(messages), most / 3)
  const room = most - changed.length - failures.length
  const lines = linesOf(messages, room / messages.length).filter((line) => !brief || isSaid(line))
  const sections = [changed, failures, ...linesWithin(lines, room)]
  const head =
    `Summary of ${blocks.length} ${what} (their text was left out to save ` +
    `room${recall === undefined ? "" : `; ${recall}`}):`
  return [{ role: "user", content: [head, ...sections.filter((section) => section !== "")].join("\n") }]
}

const isSaid = (line: string): boolean => line.startsWith("- you: ") || line.startsWith("- user: ")

/**
 * The lines in their order where all have room; else what was said by itself, so that many calls do not crowd it out.
 */
function linesWithin(lines: readonly string[], room: number): string[] {
  const said = lines.filter(isSaid)
  if (said.length === 0 || said.length === lines.length || lines.join("\n").length <= room)
    return [lastOf(lines, room, "\n")]
  const words = lastOf(said, room / 3, "\n")
  const calls = lines.filter((line) => !isSaid(line))
  return [words, lastOf(calls, room - words.length, "\n")]
}

/** Failures that are told; of more than these the newest. */
const MOST_STANDING = 12

/**
 * Failures that nothing has mended, by the ids of their calls. A failure is mended by a later success of the same
 * action about the same (a path, a program), or by whatever wrote that path: that something else could be read
 * meanwhile mends nothing. One that failed again is told as it failed last.
 */
export function standingFailures(messages: readonly ChatMessage[]): ReadonlySet<string> {
  const made = new Map<string, JsonObject>()
  const standing = new Map<string, Aim>()
  for (const message of messages) {
    if (message.role === "assistant") for (const call of message.toolCalls ?? []) made.set(call.id, call.arguments)
    if (message.role !== "tool") continue
    const aim = aimOf(message.name, made.get(message.callId) ?? {})
    const written = message.success ? filesOf(message) : []
    for (const [id, failed] of standing) if (isMended(failed, aim, written)) standing.delete(id)
    if (!message.success) standing.set(message.callId, aim)
  }
  return new Set([...standing.keys()].slice(-MOST_STANDING))
}

interface Aim {
  action: string
  about: string
}

function isMended(failed: Aim, later: Aim, written: readonly string[]): boolean {
  const again = failed.action === later.action && failed.about === later.about
  return again || (failed.about !== "" && written.some((file) => isSame(file, failed.about)))
}

/** What a call does, and what about, as far as its arguments say it in the usual words. */
function aimOf(name: string, args: JsonObject): Aim {
  const action = `${name} ${String(args.action ?? args.operation ?? "")}`
  const path = args.path ?? args.file_path ?? args.file ?? args.source
  if (typeof path === "string") return { action, about: path.replace(/^(?:\.\/)+/u, "") }
  return { action, about: typeof args.command === "string" ? (/\S+/u.exec(args.command)?.[0] ?? "") : "" }
}

function filesOf(message: ChatMessage & { role: "tool" }): readonly string[] {
  const about = message[ABOUT]
  return about?.kind === "results" ? about.results.flatMap(({ result }) => result.modifiedFiles ?? []) : []
}

/** One path, whether it is told from the workspace's top or from the machine's. */
const isSame = (whole: string, told: string): boolean => whole === told || whole.endsWith(`/${told}`)

function failuresIn(messages: readonly ChatMessage[], ids: ReadonlySet<string>, most: number): string {
  const standing = messages.filter((message) => message.role === "tool").filter(({ callId }) => ids.has(callId))
  const share = Math.floor(most / Math.max(1, standing.length))
  return standing.map(({ name, content }) => `Still failing, ${name}:\n${bothEnds(content, share)}`).join("\n")
}

/** Each call and each thing that was said, on a line of its own with the call's id: what a summary has no room for. */
export function overviewOf(messages: readonly ChatMessage[]): string {
  return linesOf(messages, 120, true).join("\n")
}

/** One line for each call with its outcome, and for each thing that was said; so many characters of a text, about. */
function linesOf(messages: readonly ChatMessage[], share: number, named = false): string[] {
  const short = Math.round(Math.min(120, Math.max(40, share)))
  const long = Math.round(short * 2.5)
  const calls = new Map<string, string>()
  return messages.flatMap((message) => {
    switch (message.role) {
      case "system":
        return []
      case "user":
        return [`- user: ${oneLine(message.content, long)}`]
      case "assistant":
        for (const { id, arguments: args } of message.toolCalls ?? [])
          calls.set(id, oneLine(JSON.stringify(args), short))
        return message.content.trim() === "" ? [] : [`- you: ${oneLine(message.content, long)}`]
      case "tool": {
        const { name, callId, success, content } = message
        const called = calls.get(callId) ?? ""
        const line =
          `- ${name}${named ? ` (${callId})` : ""}: ${success ? "done" : "failed"}: ` +
          `${oneLine(content, success ? short : long)}`
        return [called === "" ? line : `${line} [called with ${called}]`]
      }
    }
  })
}

/** The last of several texts that fit, and how many did not. */
function lastOf(texts: readonly string[], most: number, between: string): string {
  let from = texts.length
  let length = 0
  while (from > 0 && length + texts[from - 1]!.length + between.length <= most) {
    from--
    length += texts[from]!.length + between.length
  }
  const left = from === 0 ? [] : [`(${from} more)`]
  return [...left, ...texts.slice(from)].join(between)
}

function oneLine(text: string, most: number): string {
  const line = text
    .slice(0, most * 4)
    .replaceAll(/\s+/g, " ")
    .trim()
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}
