import { readBodies, type Database, type LogEvent } from "@toolwright/store"
import type { ListChange } from "./encode.ts"
import { promptText, type RecordedMessage } from "./prompt-text.ts"

/** One of the files that people read a run in. */
export interface NumberedFile {
  name: string
  text: string
}

/**
 * The numbered files of a run, made of its events: for each round the prompt, the reply, its calls and their results. Of a
 * prompt only what is new since the one before, so that they grow with the conversation and not with its square.
 */
export async function numberedFiles(database: Database, events: readonly LogEvent[]): Promise<NumberedFile[]> {
  const parsed = events.map(({ type, body }) => ({ type, body: bodyOf(body) }))
  const hashes = parsed.flatMap(({ type, body }) => (type === "request" ? (body.prompt?.add ?? []) : []))
  const messages = await readBodies(database, hashes)
  const files: NumberedFile[] = []
  const put = (name: string, text: string): void => {
    files.push({ name: `${String(files.length + 1).padStart(3, "0")}-${name}`, text })
  }
  let results: object[] = []
  let sent: RecordedMessage[] = []
  for (const { type, body } of parsed) {
    if (type === "request") {
      const { keep = 0, add = [] } = body.prompt ?? {}
      const before = sent
      sent = [...sent.slice(0, keep), ...add.map((hash) => messageIn(messages.get(hash)))]
      put("prompt.md", promptText(sent, keep === before.length ? before : []))
    } else if (type === "reply") {
      const { reasoning = "", raw = "", calls = [] } = body
      put("response.md", reasoning === "" ? raw : `<!-- reasoning\n${reasoning}\n-->\n${raw}`)
      if (calls.length > 0) put("tool-calls.json", json(calls))
    } else if (type === "tool-end") results.push({ callId: body.callId, name: body.name, result: body.result })
    if ((type === "round-end" || type === "run-end") && results.length > 0) {
      put("tool-results.json", json(results))
      results = []
    }
  }
  if (results.length > 0) put("tool-results.json", json(results))
  return files
}

/** The fields that are read here. */
interface Body {
  prompt?: ListChange
  reasoning?: string
  raw?: string
  calls?: readonly unknown[]
  callId?: string
  name?: string
  result?: unknown
}

function bodyOf(text: string | undefined): Body {
  try {
    return (JSON.parse(text ?? "{}") ?? {}) as Body
  } catch {
    return {}
  }
}

const GONE: RecordedMessage = { role: "erased", content: "(This message is no longer there.)" }

function messageIn(text: string | undefined): RecordedMessage {
  try {
    return text === undefined ? GONE : (JSON.parse(text) as RecordedMessage)
  } catch {
    return GONE
  }
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
