import { canonicalJson, type JsonObject, type RunOutcome, type ToolResult } from "@toolwright/toolbox"

/** Rounds of a dry run at most: enough to see where a flow of several calls would go. */
export const DRY_RUN_ROUNDS = 6

/**
 * What a dry run has seen so far: its calls, which of them were no calls that could run, and whether the model goes in
 * circles.
 */
export class DryRun {
  readonly #seen = new Set<string>()
  #calls = 0
  #invalid = 0
  #denied = 0
  #asks = 0
  /** The same call came a second time: nothing that was not run can lead further. */
  repeated = false

  /** Takes note of a checked call and of what the check came to. */
  observe(name: string, args: JsonObject, result: ToolResult): void {
    this.#calls++
    if (result.error?.code === "PERMISSION_DENIED") this.#denied++
    else if (!result.success) this.#invalid++
    if (result.metadata.permission === "ask") this.#asks++
    const call = `${name}\u0000${canonicalJson(args)}`
    this.repeated ||= this.#seen.has(call)
    this.#seen.add(call)
  }

  /** Something was meant as a call and could not be read. */
  observeUnreadable(): void {
    this.#calls++
    this.#invalid++
  }

  /**
   * How the run ends: well where every call was well-formed, which says nothing of what was meant, and whether or not
   * it would have been permitted.
   */
  end(): { outcome: RunOutcome; message: string } {
    const calls = this.#calls === 1 ? "1 call" : `${this.#calls} calls`
    const findings = [
      ...(this.#invalid > 0 ? [`${this.#invalid} not well-formed`] : this.#calls > 0 ? ["well-formed"] : []),
      ...(this.#denied > 0 ? [`${this.#denied} would be denied`] : []),
      ...(this.#asks > 0 ? [`${this.#asks} would need approval`] : []),
    ]
    return {
      outcome: this.#invalid > 0 ? "failed" : "completed",
      message: this.#calls === 0 ? "dry run: no call" : `dry run: ${[calls, ...findings].join(", ")}; nothing was run`,
    }
  }
}
