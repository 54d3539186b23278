import { expect, test } from "vitest"
import { TARGETS } from "../../bench/fuzz/index.ts"
import { createRandom } from "../../bench/fuzz/random.ts"
import { fuzz } from "../../bench/fuzz/target.ts"

/** How many inputs each: a few here, `TOOLWRIGHT_FUZZ=100000` for the night, as `test:whole` has it. */
const INPUTS = Number(process.env.TOOLWRIGHT_FUZZ ?? 0)
const FEW: Readonly<Record<string, number>> = {
  schemas: 75,
  templates: 500,
  replies: 500,
  gbnf: 500,
  configurations: 500,
}

test.each(TARGETS)(
  "$name: whatever comes in, only documented errors come out",
  async (target) => {
    const { findings } = await fuzz(target, INPUTS || FEW[target.name]!, 1)
    const shown = findings.map(({ seed, problem }) => `seed ${seed}: ${problem}\n${target.show(createRandom(seed))}`)
    expect(shown).toEqual([])
  },
  INPUTS === 0 ? 120_000 : 24 * 3_600_000,
)
