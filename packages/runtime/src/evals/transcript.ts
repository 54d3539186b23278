import type { RunLog } from "@toolwright/store"
import { readRun } from "@toolwright/agents"

/** One thing that was said or done in a run. */
export interface TranscriptLine {
  kind: "said" | "call"
  text: string
  /** Of a call, what it answered. */
  result?: string
  failed?: true
}

const MOST_LINES = 200
const MOST_CHARS = 2_000

/** What a run said and did, in few words: its record has all of it. Nothing where the record is gone. */
export async function transcriptOf(log: RunLog, run: string): Promise<TranscriptLine[]> {
  const found = await readRun(log, run).catch(() => undefined)
  const lines: TranscriptLine[] = []
  const calls = new Map<string, TranscriptLine>()
  for (const event of found?.events ?? []) {
    if (lines.length >= MOST_LINES) break
    const { type, content, callId, name, arguments: args, result } = event
    if (type === "reply" && typeof content === "string" && content.trim() !== "")
      lines.push({ kind: "said", text: cut(content) })
    if (type === "tool-start") {
      const line: TranscriptLine = { kind: "call", text: cut(`${String(name)} ${JSON.stringify(args)}`) }
      calls.set(String(callId), line)
      lines.push(line)
    }
    const call = type === "tool-end" ? calls.get(String(callId)) : undefined
    if (call === undefined) continue
    const { success, output } = (result ?? {}) as { success?: boolean; output?: string }
    call.result = cut(output ?? "")
    if (success !== true) call.failed = true
  }
  return lines
}

const cut = (text: string): string => (text.length <= MOST_CHARS ? text : `${text.slice(0, MOST_CHARS)}…`)
