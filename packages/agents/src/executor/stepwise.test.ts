import * as fc from "fast-check"
import { expect, test } from "vitest"
import { Stepwise, type Steps, type Taken } from "./stepwise.ts"

type Told = Taken<number, string>

/** Steps as they are given; a number of turns that each takes, none for one that is there at once. */
function stepsOf(plan: readonly { events: number[]; turns: number }[], log: string[]): Steps<number, string> {
  let at = 0
  return {
    next() {
      log.push(`step ${at}`)
      const step = plan[at++]
      const told: Told = step === undefined ? { events: [], result: { value: "end" } } : { events: step.events }
      return step === undefined || step.turns === 0 ? told : after(step.turns, told)
    },
    async close() {
      await after(1, undefined)
      log.push("closed")
    },
  }
}

async function after<Value>(turns: number, value: Value): Promise<Value> {
  for (let turn = 0; turn < turns; turn++) await Promise.resolve()
  return value
}

/** The same as the language has it. */
async function* written(begin: () => Steps<number, string>): AsyncGenerator<number, string> {
  const steps = begin()
  try {
    for (;;) {
      const { events, result } = await steps.next()
      for (const event of events) yield event
      if (result !== undefined) return result.value
    }
  } finally {
    await steps.close()
  }
}

const CALLS = {
  next: (generator: AsyncGenerator<number, string>) => generator.next(),
  return: (generator: AsyncGenerator<number, string>) => generator.return("left"),
  throw: (generator: AsyncGenerator<number, string>) => generator.throw(new Error("thrown in")),
}

/** What each call comes to, and in which order things are done, with or without waiting for the call before. */
async function trace(
  generator: AsyncGenerator<number, string>,
  log: string[],
  calls: readonly { name: keyof typeof CALLS; waits: boolean }[],
): Promise<unknown[]> {
  const outcomes: Promise<unknown>[] = []
  for (const { name, waits } of calls) {
    const outcome = CALLS[name](generator).then(
      (result) => ({ ...result, value: result.value ?? null }),
      (thrown: unknown) => String(thrown),
    )
    outcomes.push(outcome)
    if (waits) await outcome
  }
  return [await Promise.all(outcomes), log]
}

test("is to whoever uses it what a generator of the language is, whatever is called in whichever order", async () => {
  const plans = fc.array(fc.record({ events: fc.array(fc.integer(), { maxLength: 3 }), turns: fc.nat(3) }), {
    maxLength: 4,
  })
  const calls = fc.array(
    fc.record({
      name: fc.oneof({ weight: 6, arbitrary: fc.constant("next" as const) }, fc.constantFrom("return", "throw")),
      waits: fc.boolean(),
    }),
    { maxLength: 12 },
  )
  await fc.assert(
    fc.asyncProperty(plans, calls, async (plan, sequence) => {
      const logs: [string[], string[]] = [[], []]
      const ours = await trace(new Stepwise(() => stepsOf(plan, logs[0])), logs[0], sequence)
      expect(ours).toEqual(
        await trace(
          written(() => stepsOf(plan, logs[1])),
          logs[1],
          sequence,
        ),
      )
    }),
  )
})

test("what a step throws ends it, after it was closed", async () => {
  const log: string[] = []
  const steps = (): Steps<number, string> => ({ ...stepsOf([], log), next: () => Promise.reject(new Error("broken")) })
  const generator = new Stepwise(steps)
  await expect(generator.next()).rejects.toThrow("broken")
  expect(log).toEqual(["closed"])
  expect(await generator.next()).toEqual({ done: true, value: undefined })
})

test("makes no step ahead of who listens, and none before it is asked", async () => {
  const log: string[] = []
  const generator = new Stepwise(() => stepsOf([{ events: [1, 2], turns: 0 }], log))
  await after(5, undefined)
  expect(log).toEqual([])
  await generator.next()
  await after(5, undefined)
  expect(log).toEqual(["step 0"])
  await using left = generator
  expect((await left.next()).value).toBe(2)
  expect(log).toEqual(["step 0"])
})
