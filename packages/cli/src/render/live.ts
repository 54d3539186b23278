import { asFlags } from "../as-flags.ts"
import { textOf, type RunEvent, type RunSummary } from "@toolwright/toolbox"
import type { Invocation } from "../command.ts"
import { createLines, endingOf, noteLines } from "./lines.ts"
import { neutralise } from "./neutralise.ts"
import { createActivity, SPINNER } from "./progress.ts"
import type { Renderer } from "./renderer.ts"
import { columnsOf } from "./room.ts"
import { count, duration } from "./short.ts"
import { standsAbove } from "./stands-above.ts"
import { styleFor, type Style } from "./style.ts"

/** A renderer that can stand still while somebody else uses the terminal, as for a question. */
export interface LiveRenderer extends Renderer {
  hold(): void
  release(): void
}

/**
 * Shows a run as the model writes it: its text and the text of its calls as they are decoded, results, and at the end
 * how fast it went. Rounds are not told apart.
 *
 * @param resultLines lines of a result that are shown, for a model that does not tell what stands in them; one unless
 *   given
 */
export function liveRenderer(
  world: Pick<Invocation, "stdout" | "isTTY" | "env">,
  { resultLines = 1 }: { resultLines?: number } = {},
): LiveRenderer {
  return new LiveRun(world, resultLines)
}

class LiveRun implements LiveRenderer {
  readonly #stdout: Invocation["stdout"]
  readonly #onTerminal: boolean
  readonly #style: Style
  readonly #lines: (event: RunEvent) => string[]
  readonly #resultLines: number
  readonly #activity = createActivity(() => performance.now())
  readonly #timer: ReturnType<typeof setInterval> | undefined
  /** The last line is not at its end. */
  #midLine = false
  /** White space that waits for what comes after it. */
  #space = ""
  /** What the model said last. */
  #said = ""
  /** Results that are shown in full, and what is said of them until all of it is there. */
  #results: string[] = []
  #waiting = ""
  #drawn = false
  #held = false
  #frame = 0

  constructor({ stdout, isTTY, env }: Pick<Invocation, "stdout" | "isTTY" | "env">, resultLines: number) {
    this.#stdout = stdout
    this.#onTerminal = isTTY.stdout
    this.#style = styleFor(isTTY.stdout, env)
    const width = columnsOf({ stdout, isTTY })
    this.#lines = createLines({ style: this.#style, width, unicode: isTTY.stdout })
    this.#resultLines = resultLines
    this.#timer = isTTY.stdout && env.TERM !== "dumb" ? setInterval(() => this.#draw(), 100).unref() : undefined
  }

  show(event: RunEvent): void {
    this.#activity.see(event)
    switch (event.type) {
      case "run-start":
      case "round-start":
        return
      case "text-delta":
        if (this.#results.length === 0) return this.#text(event.text)
        this.#waiting += event.text
        return
      case "call-start":
        return this.#call(event.name)
      case "args-delta":
        return this.#write(neutralise(event.text.replaceAll(/\s+/g, " ")))
      case "reply":
        this.#said = event.content
        this.#tellWaiting()
        return this.#endLine()
      case "call-end":
        return this.#endLine()
      case "tool-end":
        return this.#result(event)
      case "run-end":
        return this.#end(event)
      default:
        for (const line of this.#lines(event)) this.#line(line)
    }
  }

  hold(): void {
    this.#held = true
    this.#endLine()
    this.#wipe()
  }

  release(): void {
    this.#held = false
  }

  close(): void {
    clearInterval(this.#timer)
    this.#wipe()
    this.#endLine()
  }

  #draw(): void {
    const text = this.#held || this.#midLine ? undefined : this.#activity.text()
    if (text === undefined) return this.#wipe()
    const width = Math.max(20, (this.#stdout.columns || 100) - 4)
    const shown = Array.from(text).slice(0, width).join("")
    this.#stdout.write(`\r\u001b[2K${SPINNER[this.#frame++ % SPINNER.length]} ${shown}`)
    this.#drawn = true
  }

  #wipe(): void {
    if (this.#drawn) this.#stdout.write("\r\u001b[2K")
    this.#drawn = false
  }

  #write(text: string): void {
    this.#wipe()
    this.#stdout.write(text)
    this.#midLine = !text.endsWith("\n")
  }

  #endLine(): void {
    if (this.#midLine) this.#write("\n")
    this.#space = ""
  }

  #line(words: string): void {
    this.#endLine()
    this.#write(`${words}\n`)
  }

  /** White space waits for what comes after it: most of it stands before a call, where it says nothing. */
  #text(delta: string): void {
    const all = this.#midLine ? this.#space + delta : (this.#space + delta).trimStart()
    const words = all.trimEnd()
    this.#space = all.slice(words.length)
    if (words !== "") this.#write(neutralise(`${this.#midLine ? "" : "  "}${words}`.replaceAll("\n", "\n  ")))
  }

  /** What is said of results, unless they say it themselves. */
  #tellWaiting(): void {
    const waiting = this.#waiting
    const isTold = standsAbove(waiting, this.#results)
    this.#waiting = ""
    this.#results = []
    if (!isTold) this.#text(waiting)
  }

  #call(name: string): void {
    this.#tellWaiting()
    this.#endLine()
    this.#write(`  ${this.#style.cyan(this.#onTerminal ? "→" : "call  ")} ${this.#style.bold(neutralise(name))} `)
  }

  /** A result in its own lines, under the line that says how the call went. */
  #result(event: Extract<RunEvent, { type: "tool-end" }>): void {
    const { success, output, data, error, metadata } = event.result
    const lines = this.#lines(event)
    if (this.#resultLines === 1 || metadata.dryRun === true) return lines.forEach((line) => this.#line(line))
    this.#line(lines[0]!)
    const said = success ? output || textOf(data) : output || (error?.message ?? "")
    this.#results.push(said)
    const all = said.replace(/\n+$/, "").split("\n")
    for (const each of all.slice(0, this.#resultLines)) this.#line(`    ${this.#style.dim(neutralise(each))}`.trimEnd())
    const left = all.length - this.#resultLines
    if (left > 0) this.#line(`    ${this.#style.dim(`[${count(left, "more line")}]`)}`)
  }

  #end({ summary, error }: Extract<RunEvent, { type: "run-end" }>): void {
    this.#endLine()
    const ending = endingOf(summary, this.#said, this.#style)
    const lines = [
      ...(ending === undefined ? [] : [ending]),
      ...noteLines(summary, this.#style),
      ...(error?.hint === undefined ? [] : [neutralise(asFlags(error.hint))]),
      `  ${this.#style.dim(speedOf(summary))}`,
    ]
    for (const line of lines) this.#write(`${line}\n`)
  }
}

/** How much was decoded and how fast, over the model's whole time, the reading of the prompt included. */
export function speedOf({ calls, outputTokens, times, dryRun }: RunSummary): string {
  const { modelMs, totalMs } = times
  const tokens =
    outputTokens === 0
      ? []
      : [
          `${count(outputTokens, "token")} in ` +
            `${modelMs < 1000 ? `${Math.round(modelMs)} ms` : duration(modelMs)}, ` +
            `${Math.round((outputTokens * 1000) / Math.max(modelMs, 1))} a second`,
        ]
  return [
    ...(calls === 0 ? [] : [`${count(calls, "call")}${dryRun === true ? ", none run" : ""}`]),
    ...tokens,
    `${duration(totalMs)} in all`,
  ].join(" · ")
}
