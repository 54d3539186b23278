import {
  CallLimits,
  defineTool,
  failure,
  success,
  ToolRegistry,
  type ToolCall,
  type ToolEffects,
} from "@toolwright/toolbox"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { Batch } from "./batch.ts"

/** What a call of the random batches is: it reads, writes, says nothing of its effects, or is of no tool at all. */
const KINDS = ["read", "write", "silent", "gone"] as const
type Kind = (typeof KINDS)[number]

const EFFECTS: Record<Exclude<Kind, "gone">, ToolEffects | undefined> = {
  read: { readOnly: true },
  write: { writes: ["path"] },
  silent: undefined,
}

interface Plan {
  kind: Kind
  /** Turns of the event loop that the call takes. */
  turns: number
  fails: boolean
}

/** Runs a batch; `log` has the beginning and the end of each call that ran, in the order in which they happened. */
async function runBatch(plans: readonly Plan[]) {
  const log: string[] = []
  const registry = new ToolRegistry()
  for (const kind of ["read", "write", "silent"] as const) {
    const effects = EFFECTS[kind]
    registry.register(
      defineTool({
        name: kind,
        description: kind,
        parameters: { type: "object", properties: { index: { type: "integer" }, path: { type: "string" } } },
        ...(effects === undefined ? {} : { effects }),
        async execute({ index }) {
          const plan = plans[Number(index)]!
          log.push(`begin ${String(index)}`)
          for (let turn = 0; turn < plan.turns; turn++) await new Promise((resolve) => setImmediate(resolve))
          log.push(`end ${String(index)}`)
          return plan.fails ? failure({ code: "NO", message: "no" }) : success({ output: String(index) })
        },
      }),
    )
  }
  const calls: ToolCall[] = plans.map(({ kind }, index) => ({
    id: `c${index}`,
    name: kind,
    arguments: { index, path: "a" },
  }))
  const batch = new Batch(calls, {
    tools: registry,
    runId: "r",
    limits: new CallLimits(undefined),
    middleware: [],
    onResult: ({ id }) => void log.push(`result ${id.slice(1)}`),
  })
  const told: string[] = []
  for (;;) {
    const step = await batch.next()
    if (step.done) return { log, told, executed: step.executed }
    for (const event of step.events) if ("callId" in event) told.push(`${event.type} ${event.callId}`)
  }
}

const plan: fc.Arbitrary<Plan> = fc.record({
  kind: fc.constantFrom(...KINDS),
  turns: fc.integer({ min: 0, max: 4 }),
  fails: fc.boolean(),
})

test("whatever a batch is made of, a call that does not only read waits for all before it, and all after it wait for it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { minLength: 1, maxLength: 9 }), async (plans) => {
      const { log, told, executed } = await runBatch(plans)
      expect(executed.map(({ call }) => call.id)).toEqual(plans.map((_, index) => `c${index}`))
      for (let first = 0; first < plans.length; first++) {
        expect(told.filter((event) => event.endsWith(` c${first}`))).toEqual([
          `tool-start c${first}`,
          `tool-end c${first}`,
        ])
        for (let second = first + 1; second < plans.length; second++) {
          if (plans[first]!.kind === "read" && plans[second]!.kind === "read") continue
          // What the second does, it does after the first is over and its result was heard of.
          const begun = log.findIndex((entry) => entry.endsWith(` ${second}`))
          expect(begun, `${first} before ${second} in ${log.join(", ")}`).toBeGreaterThan(
            log.indexOf(`result ${first}`),
          )
        }
      }
    }),
    { numRuns: 300 },
  )
})

test("neighbouring calls that only read run beside each other, all of them", async () => {
  const reads = (count: number): Plan[] =>
    Array.from({ length: count }, () => ({ kind: "read", turns: 3, fails: false }))
  const { log } = await runBatch([...reads(4), { kind: "write", turns: 1, fails: false }, ...reads(3)])
  expect(log.slice(0, 4).every((entry) => entry.startsWith("begin"))).toBe(true)
  expect(log.slice(-9, -6).map((entry) => entry.split(" ")[0])).toEqual(["begin", "begin", "begin"])
})

test("no call starts before somebody asks what happens", async () => {
  let ran = false
  const registry = new ToolRegistry()
  registry.register(
    defineTool({ name: "go", description: "", parameters: { type: "object" }, execute: () => (ran = true) }),
  )
  const batch = new Batch([{ id: "a", name: "go", arguments: {} }], {
    tools: registry,
    runId: "r",
    limits: new CallLimits(undefined),
    middleware: [],
    onResult: () => {},
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(ran).toBe(false)
  await batch.next()
  expect(ran).toBe(true)
})

test("what the listener of results throws comes out of the batch", async () => {
  const registry = new ToolRegistry()
  registry.register(defineTool({ name: "go", description: "", parameters: { type: "object" }, execute: () => "gone" }))
  const batch = new Batch([{ id: "a", name: "go", arguments: {} }], {
    tools: registry,
    runId: "r",
    limits: new CallLimits(undefined),
    middleware: [],
    onResult() {
      throw new Error("no room in the ledger")
    },
  })
  const all = async (): Promise<void> => {
    while (!(await batch.next()).done) continue
  }
  await expect(all()).rejects.toThrow("no room in the ledger")
})
