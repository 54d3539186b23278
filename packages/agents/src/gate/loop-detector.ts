import type { JsonObject, ToolResult } from "@toolwright/toolbox"

/** From which repetition on the model is told, and at which the run is stopped. */
export const LOOP_LIMITS = { tell: 3, stop: 6 } as const

/** What the detector thinks of a call. */
export type LoopVerdict = { kind: "fine" } | { kind: "tell" | "stop"; times: number; text: string }

/** Notices the same call with the same result, over and over: a model that waits for something else to happen. */
export class LoopDetector {
  #last = ""
  #times = 0

  observe(name: string, args: JsonObject, result: ToolResult): LoopVerdict {
    const fingerprint = `${name}\u0000${JSON.stringify(args)}\u0000${result.success}\u0000${result.output}`
    this.#times = fingerprint === this.#last ? this.#times + 1 : 1
    this.#last = fingerprint
    if (this.#times < LOOP_LIMITS.tell) return { kind: "fine" }
    const text =
      `You have made the same call of '${name}' ${this.#times} times, and it gave the same result each time. ` +
      "It will not change. Use what it says, try another tool or other arguments, or finish."
    return { kind: this.#times >= LOOP_LIMITS.stop ? "stop" : "tell", times: this.#times, text }
  }
}
