import { newRunId } from "@toolwright/agents"
import { ToolwrightError, type JsonSchema } from "@toolwright/toolbox"
import { HOW_TO_CONFIGURE } from "../assembly/configured.ts"
import { createToolwright, type Toolwright, type ToolwrightOptions } from "../toolwright.ts"
import { partsOf } from "./graders/grade.ts"
import type { Grader } from "./graders/grader.ts"
import type { Judgement } from "./graders/kind.ts"
import type { Suite } from "./suite.ts"
import type { PlannedTrial } from "./given.ts"

const MOST = 10

const JUDGED = {
  type: "object",
  properties: { reason: { type: "string" }, score: { type: "integer", minimum: 0, maximum: MOST } },
  required: ["reason", "score"],
  additionalProperties: false,
} as const satisfies JsonSchema

/** A model that judges: its judgements are runs without tools, on record as all others. */
export interface Judge extends AsyncDisposable {
  /** @throws Error where it gave no judgement, for whatever reason */
  ask(question: string, about: PlannedTrial, signal: AbortSignal): Promise<Judgement>
}

/** Whether one is needed at all. */
export function needsJudge({ tasks }: Suite): boolean {
  const judged = (grader: Grader): boolean => "rubric" in grader || partsOf(grader).some((part) => judged(part.grader))
  return Object.values(tasks).some(({ graders }) => graders.some(judged))
}

/**
 * @param settings of its model; it has no tools
 * @throws ToolwrightError `NO_MODEL` where none is configured that could judge
 */
export async function openJudge(
  { model, secrets, env, cwd, backend }: ToolwrightOptions,
  { database, evaluation }: { database: string; evaluation: () => string },
): Promise<Judge> {
  const toolwright = await createToolwright({
    ...(model === undefined ? {} : { model }),
    ...(secrets === undefined ? {} : { secrets }),
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(backend === undefined ? {} : { backend }),
    runs: { database },
    withBuiltins: false,
  })
  try {
    await toolwright.backend()
    if (toolwright.pairing !== undefined) throw new ToolwrightError("NO_MODEL", "The built-in model judges nothing.")
  } catch (thrown) {
    await toolwright.close()
    if (!ToolwrightError.isInstance(thrown) || thrown.code !== "NO_MODEL") throw thrown
    throw new ToolwrightError("NO_MODEL", "The suite has a rubric, and there is no model that could judge by it.", {
      cause: thrown,
      hint: `Name one in the suite, as in judge: { name: …, baseUrl: … }, or configure one.\n${HOW_TO_CONFIGURE}`,
    })
  }
  return {
    ask: (question, about, signal) => judged(toolwright, question, { about, signal, evaluation: evaluation() }),
    [Symbol.asyncDispose]: () => toolwright.close(),
  }
}

async function judged(
  toolwright: Toolwright,
  question: string,
  { about, signal, evaluation }: { about: PlannedTrial; signal: AbortSignal; evaluation: string },
): Promise<Judgement> {
  const run = newRunId()
  const summary = await toolwright.complete(question, {
    tools: [],
    output: JUDGED,
    runId: run,
    surface: "judge",
    signal,
    askedBy: { run: evaluation, call: `${about.task}/${about.model}/${about.trial}`, key: run },
  })
  signal.throwIfAborted()
  if (!summary.success || summary.output === undefined)
    throw new Error(`the model that judges gave no judgement (run ${run}): ${summary.message}`)
  const { score, reason } = summary.output as { score: number; reason: string }
  return { score: score / MOST, reason, run }
}
