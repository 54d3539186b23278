import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, usageError, type OptionDeclarations, type OptionValues } from "../options.ts"
import { neutralise } from "../render/neutralise.ts"
import { count } from "../render/short.ts"
import { CONFIGURATION_OPTIONS, configurationFor } from "../settings-options.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  concurrency: { type: "string", value: "n", description: "How many tasks are worked on at once (1)" },
  once: {
    type: "boolean",
    description: "End when nothing is left to be taken; the exit code says whether all went well",
  },
  drain: {
    type: "string",
    value: "seconds",
    description: "How long tasks may take to end once it is told to stop (30)",
  },
  lease: {
    type: "string",
    value: "seconds",
    description: "After so long without a sign of life a worker is taken for dead (30)",
  },
  ...CONFIGURATION_OPTIONS,
} as const satisfies OptionDeclarations

export const workCommand: Command = {
  name: "work",
  summary: "Work on the tasks that wait, until it is stopped",
  usage: usageText({
    synopsis: ["work [options]"],
    description:
      "Takes the tasks of this folder, the most urgent first, and runs their agents; 'toolwright tasks' adds and " +
      "shows them. Several workers\n" +
      "may run at once, with --database on several machines too. What a worker left when it died, another " +
      "goes on with.",
    options: OPTIONS,
    examples: [
      { line: "toolwright work --once", does: "Do what waits, then end" },
      { line: "toolwright work --concurrency 4 --database postgres://…", does: "One of several workers" },
    ],
  }),
  details: `At Ctrl-C or SIGTERM a worker takes no more tasks and lets those under way end. After the seconds of
\`--drain\` they are interrupted and given back; another worker goes on with them where they are. Nobody is at hand to
ask: what needs a permission that the configuration does not give is refused; with \`--approvals wait\` the task waits
for the answer (\`toolwright approvals\`), and once that is given a worker goes on with it. While the server of
\`--database\` is away a worker waits for it, also when it starts, and says so; with \`--once\` it ends.`,
  async run(invocation) {
    const { values } = parseOptions(invocation.args, OPTIONS, { max: 0 })
    return work(invocation, values)
  },
}

async function work(invocation: Invocation, values: OptionValues<typeof OPTIONS>): Promise<number> {
  const concurrency = numberOf(values, "concurrency", { fallback: 1, least: 1 })
  const drain = numberOf(values, "drain", { fallback: 30, least: 0 })
  const lease = numberOf(values, "lease", { fallback: 30, least: 1 })
  const { configuration } = await configurationFor(invocation, values)
  const { createToolwright, onceThere, startTaskWorker } = await import("@toolwright/runtime")
  const { cwd, env, signal, stdout, stderr } = invocation
  const made = { ...configuration, withBuiltins: true, cwd, env }
  const say = (line: string): void => void stdout.write(`${neutralise(line)}\n`)
  await using toolwright = await createToolwright({
    ...made,
    log: (line) => void stderr.write(`${neutralise(line)}\n`),
  })
  // Without a model every task would fail; that is better said once, before any is taken.
  await toolwright.backend()
  const open = () => toolwright.tasks.open()
  // Whoever wants what waits done and no more is told at once that nothing can be.
  const queue = values.once === true ? await open() : await onceThere(open, { signal, log: say })
  let failed = 0
  let ended = (): void => {}
  const end = new Promise<void>((resolve) => (ended = resolve))
  if (signal.aborted) ended()
  signal.addEventListener("abort", ended, { once: true })
  const worker = await startTaskWorker({
    toolwright,
    made,
    concurrency,
    lease: lease * 1_000,
    log: say,
    onEnd: ({ state }) => {
      if (state === "failed") failed++
    },
    ...(values.once === true
      ? { onEmpty: async () => void ((await queue.queued(toolwright.tasks.root)) === 0 && ended()) }
      : {}),
  })
  if (values.once !== true) stderr.write(`Working on the tasks in ${queue.database.name}; Ctrl-C stops.\n`)
  await end
  if (worker.busy.length > 0)
    stderr.write(`Stopping: ${count(worker.busy.length, "task")} may end within ${drain} s.\n`)
  await worker.drain(drain * 1_000)
  const { queued = 0 } = values.once === true && !signal.aborted ? await queue.counts() : {}
  if (queued > 0) stderr.write(`Left for later: ${count(queued, "task")} ('toolwright tasks' lists them).\n`)
  return failed > 0 ? EXIT.failure : EXIT.success
}

function numberOf(
  values: Readonly<Record<string, unknown>>,
  name: string,
  { fallback, least }: { fallback: number; least: number },
): number {
  const given = values[name]
  const number = given === undefined ? fallback : Number(given)
  if (Number.isFinite(number) && number >= least) return name === "concurrency" ? Math.floor(number) : number
  throw usageError(`--${name} must be a number from ${least}, not '${String(given)}'.`)
}
