import { mkdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { makeStateFolder, writeStateFile } from "@toolwright/host/state-files"
import { redactDeep } from "@toolwright/host/text"
import { jsonText, messageOf, ToolwrightError, type RunEvent, type RunSummary } from "@toolwright/toolbox"
import { promptText, type RecordedMessage } from "./prompt-text.ts"

/** Hears the events of one run. It must not throw. */
export interface RunRecorder {
  write(event: RunEvent): void
}

/** What stands in a run's `run.json`. `summary` is there once the run has ended. */
export interface RunHead {
  runId: string
  agent: string
  task: string
  model: string
  format: string
  /** ISO 8601. */
  startedAt: string
  /** The process that runs it, so that a run without an end can be told from one under way. */
  pid: number
  /** Its calls were shown and not run. */
  dryRun?: true
  summary?: RunSummary
}

/** Settings of {@link recordRun}. */
export interface RecorderOptions {
  /** Takes secrets out of everything that is written. */
  redact?: (text: string) => string
  now?: () => Date
}

const STREAMED = new Set<RunEvent["type"]>(["text-delta", "reasoning-delta", "call-start", "args-delta"])

/**
 * Writes a run into a folder as it happens: `run.json`, `events.jsonl` (one event a line, deltas left out: the reply
 * holds
 * them), and numbered files for a person: `001-prompt.md`, `002-response.md`, `003-tool-calls.json`,
 * `004-tool-results.json`,
 * and so on, round after round. What was written stays when the process dies.
 *
 * @param folder is created with its parents
 * @throws ToolwrightError `RECORD_UNWRITABLE` when the folder cannot be made
 */
export function recordRun(folder: string, options: RecorderOptions = {}): RunRecorder {
  const { redact = (text) => text, now = () => new Date() } = options
  try {
    mkdirSync(dirname(folder), { recursive: true })
    makeStateFolder(dirname(folder), basename(folder))
  } catch (cause) {
    throw new ToolwrightError("RECORD_UNWRITABLE", `The run record cannot be written: ${messageOf(cause)}`, {
      cause,
      hint: "Choose another folder with the setting 'runs.folder'.",
    })
  }
  let number = 0
  let head: RunHead | undefined
  let sent: readonly RecordedMessage[] = []
  let results: object[] = []

  const put = (name: string, text: string): void => writeStateFile(join(folder, name), text)
  const numbered = (name: string, text: string): string => {
    const file = `${String(++number).padStart(3, "0")}-${name}`
    put(file, text)
    return file
  }
  /** Secrets are taken out of the texts and not of the JSON, in which they would be spelt otherwise. */
  const safe = (value: unknown): unknown => redactDeep(JSON.parse(jsonText(value)) as unknown, redact)
  const json = (value: unknown): string => `${JSON.stringify(safe(value), null, 2)}\n`

  /** Writes the files that an event calls for, and returns what of it stands in the event log. */
  const file = (event: RunEvent): object => {
    switch (event.type) {
      case "run-start": {
        const { runId, agent, task, model, format } = event
        head = {
          runId,
          agent,
          task,
          model,
          format,
          startedAt: now().toISOString(),
          pid: process.pid,
          ...(event.dryRun === true ? { dryRun: true } : {}),
        }
        put("run.json", json(head))
        return event
      }
      case "request": {
        const messages = event.messages as readonly RecordedMessage[]
        const prompt = numbered("prompt.md", redact(promptText(messages, sent)))
        sent = messages.slice()
        const { messages: _messages, tools, ...rest } = event
        return { ...rest, prompt, messageCount: messages.length, toolCount: tools.length }
      }
      case "reply":
        numbered(
          "response.md",
          redact(event.reasoning === "" ? event.raw : `<!-- reasoning\n${event.reasoning}\n-->\n${event.raw}`),
        )
        if (event.calls.length > 0) numbered("tool-calls.json", json(event.calls))
        return event
      case "tool-progress": {
        // A secret may begin in one piece and end in the next; the result holds them together.
        const { message: _message, ...rest } = event
        return rest
      }
      case "tool-end":
        results.push({ callId: event.callId, name: event.name, result: event.result })
        return event
      case "round-end":
        if (results.length > 0) numbered("tool-results.json", json(results))
        results = []
        return event
      case "run-end":
        if (head !== undefined)
          put(
            "run.json",
            json({ ...head, summary: event.summary, ...(event.error === undefined ? {} : { error: event.error }) }),
          )
        return event
      default:
        return event
    }
  }

  return {
    write(event) {
      if (STREAMED.has(event.type)) return
      try {
        const line = JSON.stringify(safe({ at: now().toISOString(), ...file(event) }))
        writeStateFile(join(folder, "events.jsonl"), `${line}\n`, { how: "append" })
      } catch {
        // A full disk or a folder that was taken away must not end the run that is being recorded.
      }
    },
  }
}
