import { messageOf, type Grade, type JsonSchema, type RunOutcome, type Verdict } from "@toolwright/toolbox"
import { calledKind, inOrderKind, notCalledKind } from "./calls.ts"
import { commandKind } from "./command.ts"
import { fileKind } from "./file.ts"
import type { Grader } from "./grader.ts"
import { failed, passed, type EndedTrial, type Found, type GraderKind } from "./kind.ts"
import { rubricKind } from "./rubric.ts"
import { answerKind } from "./text.ts"

const OUTCOMES = [
  "completed",
  "completed-with-failures",
  "nothing-done",
  "max-rounds",
  "no-tool-use",
  "stuck",
  "failed",
  "cancelled",
] satisfies RunOutcome[]

const outcomeKind: GraderKind<RunOutcome | RunOutcome[]> = {
  schema: {
    anyOf: [
      { type: "string", enum: OUTCOMES },
      { type: "array", items: { type: "string", enum: OUTCOMES }, minItems: 1 },
    ],
  },
  title: (said) => `outcome ${[said].flat().join(" or ")}`,
  grade: async (said, { outcome }) =>
    [said].flat().includes(outcome) ? passed(`it ended as ${outcome}`) : failed(`it ended as ${outcome}`),
}

const GRADERS: JsonSchema = { type: "array", items: { type: "object" }, minItems: 1, maxItems: 50 }

const allKind: GraderKind<Grader[]> = {
  schema: GRADERS,
  title: () => "all",
  grade: async (said, trial) => allOf(await gradeAll(said, trial)),
}

const anyKind: GraderKind<Grader[]> = {
  schema: GRADERS,
  title: () => "any",
  async grade(said, trial) {
    const parts = await gradeAll(said, trial)
    const good = parts.find(({ verdict }) => verdict === "pass")
    const open = parts.find(({ verdict }) => verdict === "error")
    const score = Math.max(...parts.map((part) => part.score ?? 0))
    if (good !== undefined) return { verdict: "pass", score, reason: good.reason, parts }
    if (open !== undefined) return { verdict: "error", reason: open.reason, parts }
    return { verdict: "fail", score, reason: parts.map(({ reason }) => reason).join("; "), parts }
  },
}

const OPPOSITE: Record<Verdict, Verdict> = { pass: "fail", fail: "pass", error: "error" }

const notKind: GraderKind<Grader> = {
  schema: { type: "object" },
  title: () => "not",
  async grade(said, trial) {
    const [part] = (await gradeAll([said], trial)) as [Grade]
    const { score, reason } = part
    const turned = score === undefined ? {} : { score: 1 - score }
    return { verdict: OPPOSITE[part.verdict], ...turned, reason, parts: [part] }
  },
}

const weightedKind: GraderKind<{ of: Grader[]; atLeast: number }> = {
  schema: {
    type: "object",
    properties: { of: GRADERS, atLeast: { type: "number", exclusiveMinimum: 0, maximum: 1 } },
    required: ["of", "atLeast"],
    additionalProperties: false,
  },
  title: ({ atLeast }) => `weighted, at least ${atLeast}`,
  async grade({ of, atLeast }, trial) {
    const parts = await gradeAll(of, trial)
    const open = parts.find(({ verdict }) => verdict === "error")
    if (open !== undefined) return { verdict: "error", reason: open.reason, parts }
    const score = meanScore(parts)!
    const enough = score >= atLeast - 1e-9
    return { verdict: enough ? "pass" : "fail", score, reason: `${round(score)} of ${atLeast} that it needs`, parts }
  },
}

/** Every kind of grader, by the word that says it. */
export const KINDS = {
  answer: answerKind,
  file: fileKind,
  called: calledKind,
  notCalled: notCalledKind,
  inOrder: inOrderKind,
  command: commandKind,
  outcome: outcomeKind,
  rubric: rubricKind,
  all: allKind,
  any: anyKind,
  not: notKind,
  weighted: weightedKind,
} as const

export type KindName = keyof typeof KINDS

/** What a grader says of its kind. */
export function kindOf(grader: Grader): { name: KindName; said: unknown; kind: GraderKind<unknown> } | undefined {
  const name = (Object.keys(KINDS) as KindName[]).find((each) => Object.hasOwn(grader, each))
  if (name === undefined) return undefined
  return { name, said: (grader as Record<string, unknown>)[name], kind: KINDS[name] as GraderKind<unknown> }
}

/** The graders within one. */
export function partsOf(grader: Grader): { path: string; grader: Grader }[] {
  const within = (list: unknown, path: string) =>
    Array.isArray(list) ? list.map((each, at) => ({ path: `${path}[${at}]`, grader: each as Grader })) : []
  if ("all" in grader) return within(grader.all, "all")
  if ("any" in grader) return within(grader.any, "any")
  if ("weighted" in grader) return within(grader.weighted?.of, "weighted.of")
  return "not" in grader ? [{ path: "not", grader: grader.not }] : []
}

/** One after another: commands would be in each other's way. */
export async function gradeAll(graders: readonly Grader[], trial: EndedTrial): Promise<Grade[]> {
  const grades: Grade[] = []
  for (const grader of graders) grades.push(await gradeOne(grader, trial))
  return grades
}

async function gradeOne(grader: Grader, trial: EndedTrial): Promise<Grade> {
  const { said, kind } = kindOf(grader)!
  const { name = kind.title(said), weight } = grader
  const found = await kind.grade(said, trial).catch(
    // A grader that cannot tell has seen neither a success nor a failure.
    (thrown: unknown): Found => ({ verdict: "error", reason: messageOf(thrown) }),
  )
  return { grader: name, ...found, ...(weight === undefined ? {} : { weight }) }
}

/** All have to be content. One that is not decides, whatever others could not tell. */
export function allOf(grades: Grade[]): Found {
  const bad = grades.filter(({ verdict }) => verdict === "fail")
  const open = grades.filter(({ verdict }) => verdict === "error")
  const told = [...bad, ...open].map(({ grader, reason }) => `${grader}: ${reason}`).join("; ")
  const score = open.length === 0 ? meanScore(grades) : undefined
  const verdict = bad.length > 0 ? "fail" : open.length > 0 ? "error" : "pass"
  return { verdict, ...(score === undefined ? {} : { score }), reason: told || "all is as it should be", parts: grades }
}

function meanScore(grades: readonly Grade[]): number | undefined {
  const weights = grades.map(({ weight = 1 }) => weight)
  const all = weights.reduce((sum, each) => sum + each, 0)
  return all === 0 ? undefined : grades.reduce((sum, { score = 0 }, at) => sum + score * weights[at]!, 0) / all
}

const round = (score: number): number => Math.round(score * 1_000) / 1_000
