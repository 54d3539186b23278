import { messageOf, ToolwrightError, type RunEvent } from "@toolwright/toolbox"

/** What is told of a result here; the run has all of it. */
const SHOWN = 4096

interface Told {
  event: string
  data: unknown
}

/**
 * Tells what happens in a run as it happens: `run` with its id, `text` and `reasoning` in pieces, `call` before one is
 * made and `result` after it, and at the end `end`, or `problem` where the run failed.
 */
export async function tellEvents(
  run: AsyncGenerator<RunEvent, unknown>,
  events: { writeSSE(message: { event: string; data: string }): Promise<void> },
): Promise<void> {
  try {
    for await (const event of run) {
      const told = toldOf(event)
      if (told !== undefined) await events.writeSSE({ event: told.event, data: JSON.stringify(told.data) })
    }
  } catch (thrown) {
    const code = ToolwrightError.isInstance(thrown) ? thrown.code : "RUN_FAILED"
    await events.writeSSE({ event: "problem", data: JSON.stringify({ code, message: messageOf(thrown) }) })
  }
}

function toldOf(event: RunEvent): Told | undefined {
  switch (event.type) {
    case "run-start":
      return { event: "run", data: { run: event.runId, agent: event.agent, model: event.model } }
    case "text-delta":
      return { event: "text", data: { text: event.text } }
    case "reasoning-delta":
      return { event: "reasoning", data: { text: event.text } }
    case "tool-start":
      return { event: "call", data: { id: event.callId, name: event.name, arguments: event.arguments } }
    case "tool-end": {
      const { success, output, error, executionTimeMs: ms } = event.result
      const text = output.length > SHOWN ? `${output.slice(0, SHOWN)}…` : output
      const code = error === undefined ? {} : { code: error.code }
      return { event: "result", data: { id: event.callId, name: event.name, success, output: text, ms, ...code } }
    }
    case "run-end": {
      const { outcome, message } = event.summary
      return event.error === undefined
        ? { event: "end", data: { outcome, message } }
        : { event: "problem", data: { ...event.error, outcome } }
    }
    default:
      return undefined
  }
}
