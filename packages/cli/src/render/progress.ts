import type { RunEvent } from "@toolwright/toolbox"
import type { Invocation, Output } from "../command.ts"
import { createLines } from "./lines.ts"
import { neutralise } from "./neutralise.ts"
import type { Renderer } from "./renderer.ts"
import { columnsOf } from "./room.ts"
import { duration } from "./short.ts"
import { styleFor } from "./style.ts"

/** Lines for a pipe or a log: what happened, without what is only of the moment. */
export function plainRenderer({ stdout, isTTY, env }: Pick<Invocation, "stdout" | "isTTY" | "env">): Renderer {
  const style = styleFor(isTTY.stdout, env)
  const lines = createLines({ style, width: columnsOf({ stdout, isTTY }), unicode: isTTY.stdout })
  return {
    show(event) {
      for (const line of lines(event)) stdout.write(`${line}\n`)
    },
    close: () => {},
  }
}

export const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]

/** The same lines, with a live one below them that says what is going on and for how long. */
export function terminalRenderer(
  world: Pick<Invocation, "stdout" | "isTTY" | "env">,
  now: () => number = () => performance.now(),
): Renderer {
  const { stdout } = world
  const plain = plainRenderer({ ...world, stdout: { write: (text) => write(text), columns: stdout.columns || 100 } })
  const activity = createActivity(now)
  let frame = 0
  let shown = false
  let held = false
  let timer: NodeJS.Timeout | undefined = setInterval(draw, 100)
  timer.unref()

  function clear(): void {
    if (shown) stdout.write("\r\u001b[2K")
    shown = false
  }
  function write(text: string): void {
    clear()
    stdout.write(text)
  }
  function draw(): void {
    const text = held ? undefined : activity.text()
    if (text === undefined) return clear()
    const width = Math.max(20, (stdout.columns || 100) - 4)
    stdout.write(`\r\u001b[2K${SPINNER[frame++ % SPINNER.length]} ${Array.from(text).slice(0, width).join("")}`)
    shown = true
  }

  return {
    show(event) {
      activity.see(event)
      plain.show(event)
    },
    hold() {
      held = true
      clear()
    },
    release() {
      held = false
    },
    close() {
      clearInterval(timer)
      timer = undefined
      clear()
    },
  }
}

/** Says in a few words what a run is doing right now. */
export function createActivity(now: () => number): { see(event: RunEvent): void; text(): string | undefined } {
  let round = ""
  let doing: string | undefined
  let since = now()
  let characters = 0
  const start = (what: string | undefined): void => {
    doing = what
    since = now()
    characters = 0
  }
  return {
    see(event) {
      if (event.type === "round-start") round = `round ${event.round}/${event.maxRounds} · `
      if (event.type === "request") start("waiting for the model")
      else if (event.type === "reasoning-delta") grow("thinking", event.text)
      else if (event.type === "text-delta") grow("writing", event.text)
      else if (event.type === "call-start") start(`calling ${neutralise(event.name)}`)
      else if (event.type === "args-delta") characters += event.text.length
      else if (event.type === "tool-start") start(`running ${neutralise(event.name)}`)
      else if (event.type === "tool-progress" && event.message !== undefined)
        doing = `${neutralise(event.name)}: ${neutralise(event.message)}`
      else if (event.type === "model-retry") start("waiting to try again")
      else if (event.type === "round-end" || event.type === "run-end") start(undefined)
    },
    text() {
      if (doing === undefined) return undefined
      const size = characters > 0 ? ` (${characters} characters)` : ""
      return `${round}${doing}${size} · ${duration(now() - since)}`
    },
  }
  function grow(what: string, text: string): void {
    if (doing !== what) start(what)
    characters += text.length
  }
}

/** The renderer that fits where the output goes. */
export function rendererFor(world: { stdout: Output } & Pick<Invocation, "isTTY" | "env">): Renderer {
  return world.isTTY.stdout && world.env.TERM !== "dumb" ? terminalRenderer(world) : plainRenderer(world)
}
