import type { EvaluationFigures, ModelFigures, TaskFigures, TrialResult } from "@toolwright/toolbox"

/** Of `n` trials `c` passed: the chance that of `k` of them at least one did, without a bias. */
export function passAtLeastOnce(n: number, c: number, k: number): number {
  return 1 - share(n, n - c, k)
}

/** The chance that of `k` of them all did. */
export function passEvery(n: number, c: number, k: number): number {
  return share(n, c, k)
}

/** The chance that `k` that are drawn from `n` are all among some `m` of them. */
function share(n: number, m: number, k: number): number {
  let chance = 1
  for (let at = 0; at < k; at++) chance *= Math.max(0, m - at) / (n - at)
  return chance
}

export function taskFigures(task: string, model: string, trials: readonly TrialResult[]): TaskFigures {
  const figures = common(model, trials)
  const { measured, passed } = figures
  const counts = countsTo(measured)
  return {
    task,
    ...figures,
    passAt: Object.fromEntries(counts.map((k) => [k, passAtLeastOnce(measured, passed, k)])),
    passAll: Object.fromEntries(counts.map((k) => [k, passEvery(measured, passed, k)])),
  }
}

/**
 * Over tasks every task counts the same; a number of trials that not all have measured is left out.
 *
 * @param threshold the share of trials that has to pass
 */
export function modelFigures(
  model: string,
  tasks: readonly TaskFigures[],
  { trials, threshold, open }: { trials: readonly TrialResult[]; threshold: number; open: number },
): ModelFigures {
  const figures = common(model, trials)
  const counts = countsTo(Math.min(...tasks.map(({ measured }) => measured)))
  const mean = (of: "passAt" | "passAll"): Record<string, number> =>
    Object.fromEntries(counts.map((k) => [k, average(tasks.map((task) => task[of][k] ?? 0))]))
  const passAt = mean("passAt")
  const rate = passAt[1] ?? 0
  return {
    ...figures,
    passAt,
    passAll: mean("passAll"),
    interval: wilson(figures.passed, figures.measured),
    reached: open === 0 && figures.errors === 0 && counts.length > 0 && rate >= threshold - 1e-9,
  }
}

function common(model: string, trials: readonly TrialResult[]): Omit<EvaluationFigures, "passAt" | "passAll"> {
  const measured = trials.filter(({ verdict }) => verdict !== "error")
  const scores = measured.flatMap(({ score }) => (score === undefined ? [] : [score]))
  const sum = (of: (trial: TrialResult) => number): number => trials.reduce((all, trial) => all + of(trial), 0)
  return {
    model,
    measured: measured.length,
    passed: measured.filter(({ verdict }) => verdict === "pass").length,
    errors: trials.length - measured.length,
    ...(scores.length === 0 ? {} : { score: average(scores) }),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    calls: sum(({ calls }) => calls),
    milliseconds: middle(measured.map(({ milliseconds }) => milliseconds)),
  }
}

/** 1, 2, 3, 5, 10, 20, 50, …, and the last one. */
function countsTo(most: number): number[] {
  if (!Number.isFinite(most) || most < 1) return []
  const steps = [1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000]
  return [...new Set([...steps.filter((step) => step <= most), most])]
}

const average = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, each) => sum + each, 0) / values.length

function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

/** The interval of Wilson: it holds for few trials too, and for none or all of them. */
function wilson(passed: number, measured: number): [number, number] {
  if (measured === 0) return [0, 1]
  const z = 1.96
  const rate = passed / measured
  const over = 1 + z ** 2 / measured
  const centre = (rate + z ** 2 / (2 * measured)) / over
  const half = (z / over) * Math.sqrt((rate * (1 - rate)) / measured + z ** 2 / (4 * measured ** 2))
  return [Math.max(0, centre - half), Math.min(1, centre + half)]
}
