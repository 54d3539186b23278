import type { RecordedEvent } from "@toolwright/agents"
import type { TaskRow } from "@toolwright/store"
import { effectsOf, type JsonObject, type RunEvent, type RunSummary, type ToolDefinition } from "@toolwright/toolbox"
import type { Performed } from "./worker.ts"

/** Holds a try of a task to what the try before it failed at. */
export interface EarlierTry {
  /** What the agent is told of it. */
  readonly words: string
  see(event: RunEvent | RecordedEvent): void
  /** The end as it is, or a failure where it is a success in words alone. */
  judged(end: Performed): Performed
}

/** How the gate notes a call that failed and was not put right. */
const OPEN_FAILURE = /^'([^']+)' failed and was not put right/u

/**
 * What a try before this one left undone; undefined where there was none. A run begins with no memory of it, so its own
 * gate is content with an answer: it is held here to have done something about the calls that failed.
 */
export function earlierTry(
  { result, attempts }: Pick<TaskRow, "result" | "attempts">,
  toolOf: (name: string) => ToolDefinition | undefined,
): EarlierTry | undefined {
  if (result === null || attempts < 2) return undefined
  const { message = "it is not known why", outcome, notes = [] } = JSON.parse(result) as Partial<RunSummary>
  const failed = new Set(notes.flatMap((note) => OPEN_FAILURE.exec(note.message)?.[1] ?? []))
  // The model's own word may be that all went well.
  const ownWord = outcome === "completed-with-failures" && notes.length > 0
  const why = ownWord ? notes.map((note) => note.message).join(" ") : message
  const onlyLooked = [...failed].every((name) => toolOf(name)?.effects?.readOnly === true)
  const begun = new Map<string, JsonObject>()
  let acted = failed.size === 0
  const counts = (name: string, args: JsonObject): boolean => {
    if (onlyLooked || failed.has(name)) return true
    const tool = toolOf(name)
    return tool === undefined || effectsOf(tool, args)?.readOnly !== true
  }
  return {
    words: `An earlier try of this failed: ${why}\nLook at what is there, and put it right.`,
    see(event) {
      if (event.type === "tool-start") {
        const { callId, arguments: args } = event as Extract<RunEvent, { type: "tool-start" }>
        begun.set(callId, args)
      } else if (event.type === "tool-end") {
        const { callId, name, result: came } = event as Extract<RunEvent, { type: "tool-end" }>
        acted ||= came.success && counts(name, begun.get(callId) ?? {})
        begun.delete(callId)
      }
    },
    judged(end) {
      if (acted || end.state !== "done") return end
      const reason = `nothing was done about what an earlier try failed at (${[...failed].join(", ")})`
      return { ...end, state: "failed", reason }
    },
  }
}
