import { readBodies, type Database, type LogEvent } from "@toolwright/store"
import type { ListChange } from "./encode.ts"
import { promptText, type RecordedMessage } from "./prompt-text.ts"
import { saidAgain } from "./said-once.ts"

/** One of the files that people read a run in. */
export interface NumberedFile {
  name: string
  text: string
}

/**
 * The numbered files of a run, made of its events: for each round the prompt, the reply, its calls and their results.
 * Of a prompt only what is new since the one before, so that they grow with the conversation and not with its square.
 */
export async function numberedFiles(database: Database, events: readonly LogEvent[]): Promise<NumberedFile[]> {
  const parsed = events.map(({ type, body }) => ({ type, body: bodyOf(body) }))
  const hashes = parsed.flatMap(({ type, body }) => (type === "request" ? (body.prompt?.add ?? []) : []))
  const messages = await readBodies(database, hashes)
  const writing = new FilesOfRun(messages)
  for (const { type, body } of parsed) writing.add(type, body)
  return writing.end()
}

class FilesOfRun {
  readonly #messages: ReadonlyMap<string, string>
  readonly #files: NumberedFile[] = []
  #results: object[] = []
  #sent: RecordedMessage[] = []

  /** @param messages the texts of all messages, by their hashes */
  constructor(messages: ReadonlyMap<string, string>) {
    this.#messages = messages
  }

  add(type: string, body: Body): void {
    if (type === "request") this.#prompt(body)
    else if (type === "reply") this.#reply(body)
    else if (type === "tool-end") this.#result(saidAgain(body))
    else if (type === "round-end" || type === "run-end") this.#putResults()
  }

  end(): NumberedFile[] {
    this.#putResults()
    return this.#files
  }

  #result({ callId, name, result }: Body): void {
    this.#results.push({ callId, name, result })
  }

  #prompt({ prompt }: Body): void {
    const { keep = 0, add = [] } = prompt ?? {}
    const before = this.#sent
    this.#sent = [...before.slice(0, keep), ...add.map((hash) => messageIn(this.#messages.get(hash)))]
    this.#put("prompt.md", promptText(this.#sent, keep === before.length ? before : []))
  }

  #reply({ reasoning = "", raw = "", calls = [] }: Body): void {
    this.#put("response.md", reasoning === "" ? raw : `<!-- reasoning\n${reasoning}\n-->\n${raw}`)
    if (calls.length > 0) this.#put("tool-calls.json", json(calls))
  }

  #putResults(): void {
    if (this.#results.length > 0) this.#put("tool-results.json", json(this.#results))
    this.#results = []
  }

  #put(name: string, text: string): void {
    this.#files.push({ name: `${String(this.#files.length + 1).padStart(3, "0")}-${name}`, text })
  }
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
