import { createParser, type Format, type ParseEvent, type ToolCallParser } from "@toolwright/toolformat"
import type { AskEvent } from "../ask.ts"

/** Tells thoughts from what is said, in replies without tools. */
export interface ThoughtSplitter {
  push(text: string): AskEvent[]
  end(): AskEvent[]
}

/**
 * Takes the thoughts that a reply begins with out of its text, where the model's family marks them. Whatever comes
 * behind other text stays: there a mark is what somebody writes about.
 */
export function createThoughtSplitter(format: Format | undefined): ThoughtSplitter {
  const { reasoning, headers } = format ?? {}
  const marks = [...(reasoning?.open ?? []), ...(headers?.open ?? [])]
  let held: string | undefined = ""
  let parser: ToolCallParser | undefined

  function begun(text: string): AskEvent[] {
    held = undefined
    return text === "" ? [] : [{ type: "text-delta", text }]
  }

  return {
    push(text) {
      if (parser !== undefined) return parser.push(text).flatMap(asEvent)
      if (held === undefined) return [{ type: "text-delta", text }]
      held += text
      const start = held.trimStart()
      if (format !== undefined && marks.some((mark) => start.startsWith(mark))) {
        parser = createParser({ ...format, calls: [], generic: false }, [])
        return parser.push(held).flatMap(asEvent)
      }
      return marks.some((mark) => mark.startsWith(start)) ? [] : begun(held)
    },
    end() {
      if (parser !== undefined) return parser.end().flatMap(asEvent)
      return begun(held ?? "")
    },
  }
}

function asEvent(event: ParseEvent): AskEvent[] {
  return event.type === "text-delta" || event.type === "reasoning-delta" ? [event] : []
}
