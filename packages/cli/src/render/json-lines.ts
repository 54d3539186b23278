import { jsonText, type RunEvent } from "@toolwright/toolbox"
import type { Output } from "../command.ts"
import type { Renderer } from "./renderer.ts"

/** Each event as one line of JSON. Of a request only its size is told: its messages are the events before it. */
export function jsonLinesRenderer(stdout: Output): Renderer {
  return {
    show: (event) => void stdout.write(`${jsonText(compact(event))}\n`),
    close: () => {},
  }
}

function compact(event: RunEvent): object {
  if (event.type !== "request") return event
  const { messages, tools, ...rest } = event
  return { ...rest, messageCount: messages.length, toolCount: tools.length }
}
