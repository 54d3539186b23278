import type { Configuration, PlanAccess, Toolwright } from "@toolwright/runtime"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, usageError, type OptionDeclarations, type OptionValues } from "../options.ts"
import { checkedLines, planLine, planTree } from "../plans/lines.ts"
import { inputsIn, planIn, templateNamed } from "../plans/read.ts"
import { neutralise } from "../render/neutralise.ts"
import { CONFIGURATION_OPTIONS, configurationFor } from "../settings-options.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  set: { type: "string", multiple: true, value: "name=text", description: "What an input of the plan is this time" },
  worktree: {
    type: "boolean",
    description: "Of run: each task in a git worktree and on a branch of its own, merged once it succeeded",
  },
  queue: { type: "boolean", description: "Of run: only queue the tasks, for workers elsewhere" },
  concurrency: { type: "string", value: "n", description: "Of run and resume: tasks that are worked on at once (2)" },
  watch: { type: "boolean", description: "Of show: go on showing it until it has ended" },
  json: { type: "boolean", description: "Print JSON" },
  ...CONFIGURATION_OPTIONS,
} as const satisfies OptionDeclarations

type Values = OptionValues<typeof OPTIONS>

export const planCommand: Command = {
  name: "plan",
  summary: "Start tasks that build on each other, see how they go on, stop or resume them",
  usage: usageText({
    synopsis: [
      "plan run|check <file|template> [--set name=text] [options]",
      "plan [list] [options]",
      "plan show|resume|cancel|retry [<id>] [options]",
      "plan new|templates [<template>]",
    ],
    description:
      "A plan makes agents and queues their tasks; each begins when those before it are done, and is told what " +
      "their files declare.\n" +
      "It outlives the terminal: 'plan show' sees it again, 'plan resume' goes on. Without an id the newest plan " +
      "is meant; 'cancel' asks for one.",
    options: OPTIONS,
    examples: [
      { line: "toolwright plan new feature", does: "Writes plan.yaml, to be changed and run" },
      { line: 'toolwright plan run fix --set problem="uploads time out"', does: "A template as it is" },
    ],
  }),
  async run(invocation) {
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 2 })
    const [action = "list", what] = positionals
    const run = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined
    if (run === undefined)
      throw usageError(`'plan ${action}' is not known.`, `Use one of: ${Object.keys(ACTIONS).join(", ")}.`)
    return run({ invocation, values, what })
  },
}

interface Asked {
  invocation: Invocation
  values: Values
  what: string | undefined
}

const ACTIONS: Readonly<Record<string, (asked: Asked) => Promise<number>>> = {
  run: start,
  check,
  list,
  show,
  resume,
  cancel: (asked) => change(asked, "cancel"),
  retry: (asked) => change(asked, "retry"),
  new: write,
  templates,
}

/** Opens what plans need and nothing else: no tools, no model. */
async function withPlans<Result>(
  { invocation, values }: Asked,
  work: (plans: PlanAccess, configuration: Configuration) => Promise<Result>,
): Promise<Result> {
  const [{ tasksFor }, { agentsFor, planAccess }, { configuration }] = await Promise.all([
    import("@toolwright/runtime/tasks"),
    import("@toolwright/runtime"),
    configurationFor(invocation, values),
  ])
  const tasks = tasksFor(configuration, invocation)
  try {
    const agents = await agentsFor(configuration, { cwd: invocation.cwd, tasks })
    return await work(planAccess({ tasks, agents }), configuration)
  } finally {
    await tasks.close()
  }
}

async function check(asked: Asked): Promise<number> {
  const { invocation, values, what } = asked
  const { plan, ...origin } = await planIn(invocation.cwd, file(what))
  return withPlans(asked, async (plans) => {
    const checked = await plans.check(plan, inputsIn(values.set), origin)
    print(asked, checked, checkedLines(checked))
    return EXIT.success
  })
}

async function start(asked: Asked): Promise<number> {
  const { invocation, values, what } = asked
  const { plan, ...rest } = await planIn(invocation.cwd, file(what))
  const inputs = inputsIn(values.set)
  const origin = { ...rest, ...(values.worktree === true ? { worktree: true } : {}) }
  if (values.queue === true) {
    return withPlans(asked, async (plans) => {
      const view = await plans.start(plan, inputs, origin)
      print(asked, view, [
        ...planTree(view, invocation),
        `workers do it: toolwright work, or toolwright plan resume ${view.id}`,
      ])
      return EXIT.success
    })
  }
  return withWorker(asked, ({ plans }) => plans.start(plan, inputs, { ...origin, here: true }))
}

async function resume(asked: Asked): Promise<number> {
  return withWorker(asked, async (toolwright) => {
    const { plans } = toolwright
    const view = await plans.show(asked.what ?? "latest")
    if (view.state === "failed" || view.state === "cancelled")
      throw usageError(
        `Nothing of ${view.id} is open: ${planLine(view)}.`,
        `'toolwright plan retry ${view.id}' queues again what was not done.`,
      )
    // A run that cannot go on with the model here would only use up a try.
    for (const { state, run } of view.steps)
      if (run !== undefined && OPEN.has(state)) await toolwright.backend({ of: run })
    return view
  })
}

const OPEN: ReadonlySet<string> = new Set(["queued", "waiting", "running", "needs-approval"])

/** Works on a plan here; a model that is missing is said before anything is made. */
async function withWorker(
  { invocation, values }: Asked,
  begin: (toolwright: Toolwright) => Promise<{ id: string }>,
): Promise<number> {
  const concurrency = concurrencyIn(values)
  const { configuration } = await configurationFor(invocation, values)
  const [{ createToolwright }, { workOnPlan }] = await Promise.all([
    import("@toolwright/runtime"),
    import("../plans/work.ts"),
  ])
  const { cwd, env, stdout, stderr } = invocation
  const log = (line: string): void => void stderr.write(`${neutralise(line)}\n`)
  await using toolwright = await createToolwright({ ...configuration, withBuiltins: true, cwd, env, log })
  await toolwright.backend()
  const { id } = await begin(toolwright)
  stdout.write(`${id}: you may close this terminal; 'toolwright plan resume ${id}' goes on with it.\n`)
  return await workOnPlan(invocation, { toolwright, configuration, concurrency }, id)
}

async function list(asked: Asked): Promise<number> {
  return withPlans(asked, async (plans) => {
    const all = await plans.list()
    print(asked, all, all.length === 0 ? ["No plan was started here."] : all.map(planLine))
    return EXIT.success
  })
}

async function show(asked: Asked): Promise<number> {
  const { invocation, values, what } = asked
  return withPlans(asked, async (plans, configuration) => {
    const view = await plans.show(what ?? "latest")
    const { afterwards, followPlan } = await import("../plans/work.ts")
    if (values.watch === true) return followPlan(invocation, plans, view.id)
    const next = afterwards(view, configuration).filter((line) => !line.includes(`plan show ${view.id}`))
    const one = `one task: toolwright tasks show ${view.steps[0]?.id}`
    print(asked, view, [...planTree(view, invocation), ...next, one])
    return EXIT.success
  })
}

async function change(asked: Asked, how: "cancel" | "retry"): Promise<number> {
  if (asked.what === undefined && how === "cancel")
    throw usageError("Which plan?", "Give its id; 'toolwright plan list' shows them.")
  return withPlans(asked, async (plans) => {
    const view = await plans[how](asked.what ?? "latest")
    print(asked, view, planTree(view, asked.invocation))
    return EXIT.success
  })
}

async function write({ invocation, what }: Asked): Promise<number> {
  const [{ planText }, { writeNew }] = await Promise.all([
    import("@toolwright/runtime"),
    import("../scaffold/write.ts"),
  ])
  const text = await planText(await templateNamed(what ?? "feature"))
  writeNew(invocation.cwd, { "plan.yaml": `# docs/plans.md tells what else can be said.\n${text}` })
  invocation.stdout.write("made plan.yaml\nSee what it would do: toolwright plan check plan.yaml --set …\n")
  return EXIT.success
}

async function templates(asked: Asked): Promise<number> {
  const { PLAN_TEMPLATES } = await import("@toolwright/runtime")
  const lines = PLAN_TEMPLATES.map(({ name, description = "", inputs = {} }) => {
    const said = Object.keys(inputs).map((input) => `--set ${input}=…`)
    return `${name.padEnd(10)}${description} (${said.join(" ")})`
  })
  print(asked, PLAN_TEMPLATES, lines)
  return EXIT.success
}

function print({ invocation: { stdout }, values }: Asked, value: unknown, lines: readonly string[]): void {
  if (values.json === true) stdout.write(`${JSON.stringify(value, null, 2)}\n`)
  else for (const line of lines) stdout.write(`${line}\n`)
}

function file(what: string | undefined): string {
  if (what !== undefined) return what
  throw usageError("Which plan?", "Name its file, or a template: toolwright plan run plan.yaml")
}

function concurrencyIn({ concurrency = "2" }: Values): number {
  const number = Number(concurrency)
  if (Number.isSafeInteger(number) && number >= 1) return number
  throw usageError(`--concurrency must be a whole number from 1, not '${concurrency}'.`)
}
