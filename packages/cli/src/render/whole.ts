import { asFlags } from "../as-flags.ts"
import { textOf, type RunEvent, type RunSummary, type ToolResult } from "@toolwright/toolbox"
import type { Invocation } from "../command.ts"
import { createLines, endingOf, noteLines } from "./lines.ts"
import { neutralise } from "./neutralise.ts"
import type { Renderer } from "./renderer.ts"
import { columnsOf } from "./room.ts"
import { shortArguments } from "./short.ts"
import { standsAbove } from "./stands-above.ts"
import { styleFor, type Style } from "./style.ts"

/** Lines of a result that are shown; the record has all. */
export const SHOWN_LINES = 200

/**
 * Shows a run by what its tools returned, in full, and the model's words after it: for a model that is there to find
 * the right call and says one short sentence. Rounds, counts and what went well are not told.
 *
 * @param options.recorded whether what is left out can be read in a record
 */
export function wholeRenderer(
  { stdout, isTTY, env }: Pick<Invocation, "stdout" | "isTTY" | "env">,
  { recorded = true }: { recorded?: boolean } = {},
): Renderer {
  const style = styleFor(isTTY.stdout, env)
  const width = columnsOf({ stdout, isTTY })
  const lines = createLines({ style, width, unicode: isTTY.stdout })
  const plain = isTTY.stdout ? neutralise : (text: string) => text
  const write = (text: string): void => void stdout.write(`${text}\n`)
  let shown = false
  let words = ""
  let results: string[] = []

  function result(result: ToolResult): void {
    const failed = !result.success
    const text = failed ? failureText(result) : shownText(result)
    results.push(text)
    const all = text.replace(/\n+$/, "").split("\n")
    for (const line of all.slice(0, SHOWN_LINES)) write(failed ? style.red(plain(line)) : plain(line))
    if (all.length > SHOWN_LINES)
      write(style.dim(`[${all.length - SHOWN_LINES} more lines${recorded ? "; the record has them" : ""}]`))
    shown = true
  }

  function reply(content: string): void {
    words = content
    const said = neutralise(words.trim())
    const isTold = standsAbove(words, results)
    results = []
    if (said === "" || isTold) return
    if (shown) write("")
    shown = true
    write(said)
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
          return write(callLine(event, { style, width, sign: isTTY.stdout ? "→" : "call" }))
        case "tool-end":
          if (event.result.metadata.dryRun === true) return lines(event).slice(1).forEach(write)
          return result(event.result)
        case "reply":
          return reply(event.content)
        case "run-end":
          return endLines(event, words, style).forEach(write)
        default:
          lines(event).forEach(write)
      }
    },
    close: () => {},
  }
}

/** A call as it would be typed. */
function callLine(
  { name, arguments: args }: Extract<RunEvent, { type: "tool-start" }>,
  { style, width, sign }: { style: Style; width: number; sign: string },
): string {
  const typed = shortArguments(args, width - name.length - 8)
  return `${style.cyan(sign)} ${style.bold(neutralise(name))} ${typed}`.trimEnd()
}

/** How the run ended, where the model's words do not say it. */
function endLines({ summary, error }: Extract<RunEvent, { type: "run-end" }>, words: string, style: Style): string[] {
  const ending = endingOf(summary, words, style)
  const dry = summary.success && summary.dryRun === true ? [neutralise(summary.message)] : []
  return [
    ...(ending === undefined ? dry : [ending]),
    ...noteLines({ ...summary, notes: untold(summary.notes, words) }, style),
    ...(error?.hint === undefined ? [] : [neutralise(asFlags(error.hint))]),
  ]
}

/** Notes whose cause the model's words do not name already. */
function untold(notes: RunSummary["notes"] = [], words: string): NonNullable<RunSummary["notes"]> {
  return notes.filter(({ message }) => {
    const cause = message.slice(message.indexOf(": ") + 2)
    return !words.includes(cause)
  })
}

function shownText({ output, data }: ToolResult): string {
  return output === "" && data !== undefined ? textOf(data) : output
}

/** What a model is to do instead is nothing to a person who did not permit a call. */
function failureText({ output, error }: ToolResult): string {
  if (error?.code === "PERMISSION_DENIED") return `not permitted: ${error.message}`
  return `failed: ${output === "" ? (error?.message ?? "the tool failed") : output}`
}
