/** What a fuzzing target is, and the loop that runs one. */
import { ToolwrightError } from "@toolwright/toolbox"
import { createRandom, type Random } from "./random.ts"

export interface Target {
  readonly name: string
  /**
   * Makes one input out of the random numbers and gives it to the public functions. Every call that may fail goes
   * through `expecting`; whatever else is thrown is a finding.
   */
  run(random: Random, expecting: Expecting): void | Promise<void>
  /** The input of these random numbers, for a person. */
  show(random: Random): string
}

/**
 * Runs a function that is documented to throw a `ToolwrightError` with one of the codes. Gives its result, or undefined
 * where it threw as documented.
 */
export type Expecting = <Result>(codes: readonly string[], run: () => Result) => Result | undefined

export interface Finding {
  readonly seed: number
  readonly problem: string
}

export interface Outcome {
  readonly inputs: number
  readonly findings: readonly Finding[]
  /** How often each documented error came. */
  readonly refusals: ReadonlyMap<string, number>
  /** The slowest input, in milliseconds of the processor, and its seed. */
  readonly slowest: { readonly ms: number; readonly seed: number }
  readonly ms: number
}

/**
 * An input that takes the processor longer than this is a finding: nothing that a person or a model writes may stop a
 * program.
 */
const LIMIT_MS = 10_000
const MOST_FINDINGS = 20

/** @param before hears of each seed before its input runs, so that whoever watches can say which one hangs */
export async function fuzz(
  target: Target,
  inputs: number,
  firstSeed: number,
  before: (seed: number) => void = () => {},
): Promise<Outcome> {
  const findings: Finding[] = []
  const refusals = new Map<string, number>()
  const expecting: Expecting = (codes, run) => {
    try {
      return run()
    } catch (thrown) {
      if (!ToolwrightError.isInstance(thrown) || !codes.includes(thrown.code)) throw thrown
      refusals.set(thrown.code, (refusals.get(thrown.code) ?? 0) + 1)
      return undefined
    }
  }
  const began = spentMs()
  let spent = began
  let slowest = { ms: 0, seed: firstSeed }
  let seed = firstSeed
  for (; seed < firstSeed + inputs && findings.length < MOST_FINDINGS; seed++) {
    before(seed)
    const start = spent
    try {
      await target.run(createRandom(seed), expecting)
    } catch (thrown) {
      findings.push({ seed, problem: describe(thrown) })
    }
    spent = spentMs()
    const ms = spent - start
    if (ms > slowest.ms) slowest = { ms, seed }
    if (ms > LIMIT_MS) findings.push({ seed, problem: `took ${Math.round(ms)} ms` })
  }
  return { inputs: seed - firstSeed, findings, refusals, slowest, ms: spent - began }
}

/** Time of the processor, so that a busy machine makes nothing slower. */
function spentMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function describe(thrown: unknown): string {
  if (!(thrown instanceof Error)) return `threw ${String(thrown)}`
  const code = ToolwrightError.isInstance(thrown) ? ` ${thrown.code}` : ""
  const where = (thrown.stack ?? "")
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 4)
    .join("\n")
  return `${thrown.name}${code}: ${thrown.message.slice(0, 300)}\n${where}`
}
