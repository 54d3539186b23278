import { asFlags } from "../as-flags.ts"
import { textOf, type RunEvent, type RunSummary, type ToolResult } from "@toolwright/toolbox"
import type { Invocation } from "../command.ts"
import { createLines, endingOf, noteLines } from "./lines.ts"
import { neutralise } from "./neutralise.ts"
import { createActivity, SPINNER } from "./progress.ts"
import type { Renderer } from "./renderer.ts"
import { count, duration } from "./short.ts"
import { styleFor } from "./style.ts"

/** A renderer that can stand still while somebody else uses the terminal, as for a question. */
export interface LiveRenderer extends Renderer {
  hold(): void
  release(): void
}

/**
 * Shows a run as the model writes it: its text and the text of its calls as they are decoded, results, and at the end
 * how
 * fast it went. Rounds are not told apart.
 *
 * @param resultLines lines of a result that are shown, for a model that does not tell what stands in them; one unless
 *   given
 */
export function liveRenderer(
  world: Pick<Invocation, "stdout" | "isTTY" | "env">,
  { resultLines = 1 }: { resultLines?: number } = {},
): LiveRenderer {
  const { stdout, isTTY, env } = world
  const style = styleFor(isTTY.stdout, env)
  const lines = createLines({ style, width: isTTY.stdout ? stdout.columns || 100 : 200, unicode: isTTY.stdout })
  const activity = createActivity(() => performance.now())
  const live = isTTY.stdout && env.TERM !== "dumb"
  let midLine = false
  let said = ""
  let drawn = false
  let held = false
  let space = ""
  let frame = 0
  const timer = live ? setInterval(draw, 100).unref() : undefined

  function draw(): void {
    const text = held || midLine ? undefined : activity.text()
    if (text === undefined) return wipe()
    const width = Math.max(20, (stdout.columns || 100) - 4)
    stdout.write(`\r\u001b[2K${SPINNER[frame++ % SPINNER.length]} ${Array.from(text).slice(0, width).join("")}`)
    drawn = true
  }
  function wipe(): void {
    if (drawn) stdout.write("\r\u001b[2K")
    drawn = false
  }
  function write(text: string): void {
    wipe()
    stdout.write(text)
    midLine = !text.endsWith("\n")
  }
  function endLine(): void {
    if (midLine) write("\n")
    space = ""
  }
  /** White space waits for what comes after it: most of it stands before a call, where it says nothing. */
  function text(delta: string): void {
    const all = midLine ? space + delta : (space + delta).trimStart()
    const words = all.trimEnd()
    space = all.slice(words.length)
    if (words !== "") write(neutralise(`${midLine ? "" : "  "}${words}`.replaceAll("\n", "\n  ")))
  }

  function line(words: string): void {
    endLine()
    write(`${words}\n`)
  }
  /** A result in its own lines, under the line that says how the call went. */
  function whole(head: string, { success, output, data, error }: ToolResult): void {
    line(head)
    const said = success ? output || textOf(data) : output || (error?.message ?? "")
    const all = said.replace(/\n+$/, "").split("\n")
    for (const each of all.slice(0, resultLines)) line(`    ${style.dim(neutralise(each))}`.trimEnd())
    if (all.length > resultLines) line(`    ${style.dim(`[${count(all.length - resultLines, "more line")}]`)}`)
  }

  return {
    show(event: RunEvent) {
      activity.see(event)
      switch (event.type) {
        case "text-delta":
          return text(event.text)
        case "call-start":
          endLine()
          return write(`  ${style.cyan(isTTY.stdout ? "→" : "call  ")} ${style.bold(neutralise(event.name))} `)
        case "args-delta":
          return write(neutralise(event.text.replaceAll(/\s+/g, " ")))
        case "reply":
          said = event.content
          return endLine()
        case "call-end":
          return endLine()
        case "run-start":
        case "round-start":
          return
        case "run-end": {
          endLine()
          const ending = endingOf(event.summary, said, style)
          if (ending !== undefined) write(`${ending}\n`)
          for (const note of noteLines(event.summary, style)) write(`${note}\n`)
          if (event.error?.hint !== undefined) write(`${neutralise(asFlags(event.error.hint))}\n`)
          return write(`  ${style.dim(speedOf(event.summary))}\n`)
        }
        case "tool-end":
          if (resultLines === 1 || event.result.metadata.dryRun === true) return lines(event).forEach(line)
          return whole(lines(event)[0]!, event.result)
        default:
          lines(event).forEach(line)
      }
    },
    hold() {
      held = true
      endLine()
      wipe()
    },
    release() {
      held = false
    },
    close() {
      clearInterval(timer)
      wipe()
      endLine()
    },
  }
}

/** How much was decoded and how fast, over the model's whole time, the reading of the prompt included. */
export function speedOf({ calls, outputTokens, times, dryRun }: RunSummary): string {
  const { modelMs, totalMs } = times
  const tokens =
    outputTokens === 0
      ? []
      : [
          `${count(outputTokens, "token")} in ${modelMs < 1000 ? `${Math.round(modelMs)} ms` : duration(modelMs)}, ${Math.round((outputTokens * 1000) / Math.max(modelMs, 1))} a second`,
        ]
  return [
    ...(calls === 0 ? [] : [`${count(calls, "call")}${dryRun === true ? ", none run" : ""}`]),
    ...tokens,
    `${duration(totalMs)} in all`,
  ].join(" · ")
}
