import { canonicalJson, type JsonObject, type ToolResult } from "@toolwright/toolbox"

/** From which repetition on the model is told, and at which the run is stopped. */
export interface LoopLimits {
  readonly tell: number
  readonly stop: number
}

/** For models that can learn from being told. */
export const LOOP_LIMITS: LoopLimits = { tell: 3, stop: 6 }

/** Longest cycle of calls that is noticed. */
const LONGEST_PERIOD = 3

/** What the detector thinks of a call. */
export type LoopVerdict = { kind: "fine" } | { kind: "tell" | "stop"; times: number; text: string }

/** A call with what it brought. */
interface Seen {
  readonly name: string
  readonly args: JsonObject
  readonly success: boolean
  readonly output: string
  /** The arguments as text, once they had to be compared: most calls differ in what they brought. */
  text: string | undefined
}

function isSame(a: Seen, b: Seen): boolean {
  if (a.name !== b.name || a.success !== b.success || a.output !== b.output) return false
  a.text ??= canonicalJson(a.args)
  b.text ??= canonicalJson(b.args)
  return a.text === b.text
}

/**
 * Notices the same calls with the same results, over and over: a model that waits for something else to happen. Cycles
 * of up to three calls count too, and the order of keys does not matter.
 */
export class LoopDetector {
  readonly #recent: Seen[] = []
  readonly #limits: LoopLimits

  constructor(limits: LoopLimits = LOOP_LIMITS) {
    this.#limits = limits
  }

  observe(name: string, args: JsonObject, result: ToolResult): LoopVerdict {
    this.#recent.push({ name, args, success: result.success, output: result.output, text: undefined })
    if (this.#recent.length > LONGEST_PERIOD * (this.#limits.stop + 1)) this.#recent.shift()
    const [times, period] = this.#repetitions()
    if (times < Math.min(this.#limits.tell, this.#limits.stop)) return { kind: "fine" }
    const what = period === 1 ? `the same call of '${name}'` : `the same ${period} calls in a row`
    const text =
      `You have made ${what} ${times} times, and the results were the same each time. ` +
      "They will not change. Use what they say, try another tool or other arguments, or finish."
    return { kind: times >= this.#limits.stop ? "stop" : "tell", times, text }
  }

  /** How often the last calls repeat, and how many calls one repetition has. A cycle counts when it is complete. */
  #repetitions(): [times: number, period: number] {
    const { length } = this.#recent
    let best: [number, number] = [1, 1]
    for (let period = 1; period <= LONGEST_PERIOD; period++) {
      let same = 0
      while (
        length - 1 - same - period >= 0 &&
        isSame(this.#recent[length - 1 - same]!, this.#recent[length - 1 - same - period]!)
      )
        same++
      const times = Math.floor(same / period) + 1
      if (same % period === 0 && times > best[0]) best = [times, period]
    }
    return best
  }
}
