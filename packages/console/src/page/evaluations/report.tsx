import type { EvaluationReport, EvaluationFigures, Grade, TrialResult, Verdict } from "@toolwright/toolbox"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState, type ReactNode } from "react"
import { get } from "../lib/api.ts"
import { count, duration, visible } from "../lib/text.ts"
import { Badge, Loading, Problem } from "../ui/states.tsx"
import { Standing } from "./standing.tsx"

/** Trials that are shown before somebody asks for more. */
const FIRST = 100

/** One evaluation: how each model did, task by task, and every trial with what was found and its run. */
export function Report({ id }: { id: string }) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["evaluations", id],
    queryFn: ({ signal }) => get<EvaluationReport>(`evaluations/${encodeURIComponent(id)}`, signal),
    refetchInterval: ({ state }) => (state.data?.state === "done" ? false : 2_000),
  })
  if (isPending) return <Loading what="Reading the evaluation" heading="Evaluation" />
  if (data === undefined)
    return <Problem title="The evaluation cannot be shown" error={error} retry={() => void refetch()} />
  const { suite, description, startedAt, planned, open, threshold } = data
  return (
    <div className="mx-auto flex max-w-5xl flex-col gap-4 p-4">
      <div>
        <Link to="/evaluations" search={{}} className="text-accent underline">
          All evaluations
        </Link>
        <h1 className="mt-1 flex flex-wrap items-center gap-2 text-lg font-semibold">
          {visible(suite)} <Standing evaluation={data} />
        </h1>
        {description === undefined ? null : <p className="m-0">{visible(description)}</p>}
        <p className="m-0 text-soft">
          {count(planned, "trial")}
          {open === 0 ? "" : `, ${open} of them not measured`}; {percent(threshold)} have to pass; begun{" "}
          {new Date(startedAt).toLocaleString()}
        </p>
        {data.imported === true ? (
          <p className="m-0 text-soft">
            It came in as a file: these are the figures of the trials that the file tells of.
          </p>
        ) : null}
        {open > 0 && data.state === "open" ? (
          <p className="m-0 text-soft">
            <code>toolwright eval resume {visible(data.id)}</code> makes what is left.
          </p>
        ) : null}
      </div>
      <Models report={data} />
      <Tasks report={data} />
      <Trials key={id} trials={data.trials} />
    </div>
  )
}

function Table({ title, head, rows }: { title: string; head: readonly string[]; rows: ReactNode[][] }) {
  return (
    <div className="overflow-auto rounded-lg border border-line bg-panel" tabIndex={0} role="region" aria-label={title}>
      <table className="w-full border-collapse text-[13px]">
        <thead className="border-b border-line text-soft">
          <tr>
            {head.map((name, at) => (
              <th
                key={name}
                scope="col"
                className={`px-3 py-1.5 font-normal whitespace-nowrap ${at === 0 ? "text-left" : "text-right"}`}
              >
                {at === 0 ? <span className="font-semibold text-ink">{title}</span> : visible(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map(([first, ...cells], row) => (
            <tr key={row}>
              <th scope="row" className="px-3 py-1 text-left font-mono text-[12.5px] font-normal">
                {first}
              </th>
              {cells.map((cell, at) => (
                <td key={at} className="px-3 py-1 text-right whitespace-nowrap tabular-nums">
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Models({ report: { models } }: { report: EvaluationReport }) {
  const most = Math.max(1, ...models.flatMap(({ passAt }) => Object.keys(passAt).map(Number)))
  const several = most > 1 ? [`pass@${most}`, `pass^${most}`] : []
  const rows = models.map((model): ReactNode[] => [
    visible(model.model),
    <Share key="share" of={model} />,
    `${percent(model.interval[0])} to ${percent(model.interval[1])}`,
    ...(most > 1 ? [chance(model.passAt[most]), chance(model.passAll[most])] : []),
    model.score === undefined ? "–" : model.score.toFixed(2),
    `${model.inputTokens.toLocaleString("en")}, ${model.outputTokens.toLocaleString("en")}`,
    duration(model.milliseconds),
  ])
  return (
    <Table
      title="Models"
      head={["model", "passed", "likely of all", ...several, "score", "tokens read, written", "half within"]}
      rows={rows}
    />
  )
}

function Tasks({ report: { tasks, models } }: { report: EvaluationReport }) {
  const rows = [...Map.groupBy(tasks, ({ task }) => task)].map(([name, ofTask]): ReactNode[] => [
    visible(name),
    ...models.map(({ model }) => {
      const found = ofTask.find((each) => each.model === model)
      return found === undefined ? "–" : <Share key={model} of={found} />
    }),
  ])
  return <Table title="Tasks" head={["task", ...models.map(({ model }) => model)]} rows={rows} />
}

function Share({ of: { passed, measured, errors } }: { of: EvaluationFigures }) {
  if (measured === 0) return <span className="text-warn">{errors === 0 ? "–" : `${errors} not measured`}</span>
  return (
    <span className={passed === measured ? "text-good" : "text-bad"}>
      {passed} of {measured}
      {errors === 0 ? "" : `, ${errors} not measured`}
    </span>
  )
}

const SHOWN = { all: "All trials", fail: "Those that failed", error: "Those not measured" } as const

function Trials({ trials }: { trials: TrialResult[] }) {
  const [only, setOnly] = useState<keyof typeof SHOWN>("all")
  const [most, setMost] = useState(FIRST)
  const wanted = trials.filter(({ verdict }) => only === "all" || verdict === only)
  return (
    <section aria-label="Trials" className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-3">
        <h2 className="font-semibold">Trials</h2>
        <select
          className="field max-w-52"
          aria-label="Which trials"
          value={only}
          onChange={(event) => setOnly(event.target.value as keyof typeof SHOWN)}
        >
          {Object.entries(SHOWN).map(([key, name]) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
        </select>
      </div>
      {wanted.length === 0 ? <p className="m-0 text-soft">There is none.</p> : null}
      <ul className="m-0 flex list-none flex-col gap-2 p-0">
        {wanted.slice(0, most).map((trial) => (
          <Trial key={`${trial.task} ${trial.model} ${trial.trial}`} trial={trial} />
        ))}
      </ul>
      {wanted.length <= most ? null : (
        <button type="button" className="button self-start" onClick={() => setMost(most + FIRST)}>
          Show more of {wanted.length.toLocaleString("en")}
        </button>
      )}
    </section>
  )
}

function Trial({ trial }: { trial: TrialResult }) {
  const { task, model, trial: number, run, verdict, score, grades, answer, error, milliseconds } = trial
  return (
    <li className="rounded-lg border border-line bg-panel px-3 py-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Judged verdict={verdict} />
        <span className="font-mono text-[12.5px]">{visible(task)}</span>
        <span className="text-soft">
          {visible(model)}, trial {number}, {duration(milliseconds)}
          {score === undefined ? "" : `, score ${score.toFixed(2)}`}
        </span>
        {run === undefined ? null : (
          <Link to="/runs/$run" params={{ run }} search={{}} className="ml-auto text-accent underline">
            Its run
          </Link>
        )}
      </div>
      {error === undefined ? null : (
        <p className="m-0 mt-1 text-bad">
          {visible(error.code)}: {visible(error.message)}
        </p>
      )}
      <Grades grades={grades} />
      {answer.trim() === "" ? null : (
        <p className="m-0 mt-1 line-clamp-4 whitespace-pre-wrap text-soft">{visible(answer)}</p>
      )}
    </li>
  )
}

function Grades({ grades }: { grades: readonly Grade[] }) {
  if (grades.length === 0) return null
  return (
    <ul className="m-0 mt-1 flex list-none flex-col gap-0.5 pl-3 text-[12.5px]">
      {grades.map(({ grader, verdict, reason, run, parts }, at) => (
        <li key={at} className="break-words">
          <Judged verdict={verdict} /> {visible(grader)}: <span className="text-soft">{visible(reason)}</span>{" "}
          {run === undefined ? null : (
            <Link to="/runs/$run" params={{ run }} search={{}} className="text-accent underline">
              Its judgement
            </Link>
          )}
          {parts === undefined ? null : <Grades grades={parts} />}
        </li>
      ))}
    </ul>
  )
}

const WORDS = { pass: ["good", "passed"], fail: ["bad", "failed"], error: ["warn", "not measured"] } as const

function Judged({ verdict }: { verdict: Verdict }) {
  const [tone, word] = WORDS[verdict]
  return <Badge tone={tone}>{word}</Badge>
}

const percent = (share: number): string => `${Math.round(share * 100)} %`
const chance = (share: number | undefined): string => (share === undefined ? "–" : percent(share))
