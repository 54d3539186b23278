import type { RunEvent } from "@toolwright/toolbox"

/**
 * A run as lines to be read: what the model said, which calls it made, what they answered, how it ended. Long texts are
 * shortened.
 */
export function transcriptOf(events: Iterable<RunEvent>): string {
  return [...events].flatMap(lineOf).join("\n")
}

function lineOf(event: RunEvent): string[] {
  switch (event.type) {
    case "run-start":
      return [`task    ${short(event.task)}`]
    case "phase-start":
      return [`phase   ${event.phase}`]
    case "reply":
      return event.content.trim() === "" ? [] : [`model   ${short(event.content)}`]
    case "tool-start":
      return [`call    ${event.name}(${short(JSON.stringify(event.arguments))})`]
    case "tool-end":
      return [
        `${event.result.success ? "result " : "failed "} ${event.name}: ` +
          `${event.result.error === undefined ? "" : `${event.result.error.code}: `}${short(event.result.output)}`,
      ]
    case "nudge":
    case "loop-detected":
    case "completion-refused":
      return [`note    ${short(event.text)}`]
    case "run-end":
      return [
        `end     ${event.summary.outcome}: ` +
          `${event.error === undefined ? "" : `${event.error.code}: `}${short(event.summary.message)}`,
      ]
    default:
      return []
  }
}

function short(text: string, most = 300): string {
  const line = text.trim().replaceAll("\n", "\n        ")
  return line.length <= most ? line : `${line.slice(0, most)} … (${line.length} characters)`
}
