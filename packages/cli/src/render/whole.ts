import { asFlags } from "../as-flags.ts"
import { textOf, type RunEvent, type ToolResult } from "@toolwright/toolbox"
import type { Invocation } from "../command.ts"
import { createLines, endingOf, noteLines } from "./lines.ts"
import { neutralise } from "./neutralise.ts"
import type { Renderer } from "./renderer.ts"
import { shortArguments } from "./short.ts"
import { styleFor } from "./style.ts"

/** Lines of a result that are shown; the record has all. */
export const SHOWN_LINES = 200

/**
 * Shows a run by what its tools returned, in full, and the model's words after it: for a model that is there to find
 * the right call
 * and says one short sentence. Rounds, counts and what went well are not told.
 *
 * @param options.recorded whether what is left out can be read in a record
 */
export function wholeRenderer(
  { stdout, isTTY, env }: Pick<Invocation, "stdout" | "isTTY" | "env">,
  { recorded = true }: { recorded?: boolean } = {},
): Renderer {
  const style = styleFor(isTTY.stdout, env)
  const width = isTTY.stdout ? stdout.columns || 100 : 200
  const lines = createLines({ style, width, unicode: isTTY.stdout })
  const plain = isTTY.stdout ? neutralise : (text: string) => text
  const write = (text: string): void => void stdout.write(`${text}\n`)
  let shown = false
  let words = ""

  function result(result: ToolResult): void {
    const failed = !result.success
    const text = failed ? failureText(result) : shownText(result)
    const all = text.replace(/\n+$/, "").split("\n")
    for (const line of all.slice(0, SHOWN_LINES)) write(failed ? style.red(plain(line)) : plain(line))
    if (all.length > SHOWN_LINES)
      write(style.dim(`[${all.length - SHOWN_LINES} more lines${recorded ? "; the record has them" : ""}]`))
    shown = true
  }

  return {
    show(event: RunEvent) {
      switch (event.type) {
        case "run-start":
        case "round-start":
          return
        case "tool-start":
          if (shown) write("")
          lines(event)
          return write(
            `${style.cyan(isTTY.stdout ? "→" : "call")} ${style.bold(neutralise(event.name))} ${shortArguments(event.arguments, width - event.name.length - 8)}`.trimEnd(),
          )
        case "tool-end":
          if (event.result.metadata.dryRun === true) return lines(event).slice(1).forEach(write)
          return result(event.result)
        case "reply": {
          words = event.content
          const said = neutralise(words.trim())
          if (said === "") return
          if (shown) write("")
          shown = true
          return write(said)
        }
        case "run-end": {
          const ending = endingOf(event.summary, words, style)
          if (ending !== undefined) write(ending)
          else if (event.summary.success && event.summary.dryRun === true) write(neutralise(event.summary.message))
          noteLines(event.summary, style).forEach(write)
          if (event.error?.hint !== undefined) write(neutralise(asFlags(event.error.hint)))
          return
        }
        default:
          lines(event).forEach(write)
      }
    },
    close: () => {},
  }
}

function shownText({ output, data }: ToolResult): string {
  return output === "" && data !== undefined ? textOf(data) : output
}

/** What a model is to do instead is nothing to a person who did not permit a call. */
function failureText({ output, error }: ToolResult): string {
  if (error?.code === "PERMISSION_DENIED") return `not permitted: ${error.message}`
  return `failed: ${output === "" ? (error?.message ?? "the tool failed") : output}`
}
