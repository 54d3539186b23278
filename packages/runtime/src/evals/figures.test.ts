import { expect, test } from "vitest"
import type { TrialResult, Verdict } from "@toolwright/toolbox"
import { modelFigures, passAtLeastOnce, passEvery, taskFigures } from "./figures.ts"

const trial = (verdict: Verdict, number: number, task = "one"): TrialResult => ({
  task,
  model: "m",
  trial: number,
  verdict,
  ...(verdict === "error" ? {} : { score: verdict === "pass" ? 1 : 0 }),
  grades: [],
  answer: "",
  calls: 1,
  failedCalls: 0,
  rounds: 1,
  inputTokens: 10,
  outputTokens: 1,
  milliseconds: 5,
  changed: [],
})

/** Every choice of `k` out of some, one by one. */
function choices<Value>(of: readonly Value[], k: number): Value[][] {
  if (k === 0) return [[]]
  return of.flatMap((first, at) => choices(of.slice(at + 1), k - 1).map((rest) => [first, ...rest]))
}

test("pass@k and pass^k are what counting every choice of k trials says", () => {
  for (let n = 1; n <= 7; n++)
    for (let c = 0; c <= n; c++)
      for (let k = 1; k <= n; k++) {
        const all = choices(
          Array.from({ length: n }, (_, at) => at < c),
          k,
        )
        const share = (holds: (choice: boolean[]) => boolean): number => all.filter(holds).length / all.length
        expect(passAtLeastOnce(n, c, k)).toBeCloseTo(
          share((choice) => choice.includes(true)),
          10,
        )
        expect(passEvery(n, c, k)).toBeCloseTo(
          share((choice) => !choice.includes(false)),
          10,
        )
      }
})

test("a trial of which nothing could be told counts as neither, and keeps the threshold from being reached", () => {
  const trials = [trial("pass", 1), trial("error", 2), trial("pass", 3)]
  const figures = taskFigures("one", "m", trials)
  expect(figures).toMatchObject({ measured: 2, passed: 2, errors: 1, score: 1, passAt: { 1: 1, 2: 1 } })
  expect(figures.passAt).not.toHaveProperty("3")
  const model = modelFigures("m", [figures], { trials, threshold: 1, open: 0 })
  expect(model).toMatchObject({ passAt: { 1: 1 }, reached: false })
  const rest = trials.filter(({ verdict }) => verdict !== "error")
  const done = modelFigures("m", [taskFigures("one", "m", rest)], { trials: rest, threshold: 1, open: 0 })
  expect(done.reached).toBe(true)
})

test("where nothing was measured there is no figure, and nothing is reached", () => {
  const trials = [trial("error", 1)]
  const figures = taskFigures("one", "m", trials)
  expect(figures).toMatchObject({ measured: 0, passed: 0, errors: 1, passAt: {}, passAll: {} })
  expect(figures).not.toHaveProperty("score")
  expect(modelFigures("m", [figures], { trials, threshold: 0, open: 0 })).toMatchObject({
    reached: false,
    interval: [0, 1],
  })
})

test("every task counts the same, however often it was tried", () => {
  const [often, once] = [[1, 2, 3, 4].map((number) => trial("pass", number)), [trial("fail", 1, "two")]] as [
    TrialResult[],
    TrialResult[],
  ]
  const tasks = [taskFigures("one", "m", often), taskFigures("two", "m", once)]
  const model = modelFigures("m", tasks, { trials: [...often, ...once], threshold: 0.5, open: 0 })
  expect(model).toMatchObject({ passAt: { 1: 0.5 }, passAll: { 1: 0.5 }, measured: 5, passed: 4, reached: true })
  expect(model.interval[0]).toBeGreaterThan(0.3)
  expect(model.interval[1]).toBeLessThan(1)
})
