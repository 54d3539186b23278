import { useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useMemo } from "react"
import { duration, visible } from "../lib/text.ts"
import { Empty, Loading, Problem } from "../ui/states.tsx"
import { figuresQuery, SPANS, type Figures, type FiguresRow, type Span } from "./data.ts"
import { OverTime, type Measure } from "./over-time.tsx"
import { Plot } from "./plot.tsx"

/** In the unit in which the prices of models are given. */
const money = (value: number): string => value.toLocaleString("en", { maximumSignificantDigits: 3 })
const whole = (value: number): string =>
  value >= 10_000 ? `${(value / 1000).toLocaleString("en", { maximumFractionDigits: 0 })} k` : String(Math.round(value))

const TIMES: Measure[] = [
  { key: "ms50", name: "half within", shown: duration },
  { key: "ms95", name: "95 % within", shown: duration },
]
const OF_TOOLS: Measure[] = [
  { key: "count", name: "calls", shown: whole },
  { key: "failed", name: "failed calls", shown: whole },
  ...TIMES,
]
const OF_MODELS: Measure[] = [
  { key: "count", name: "runs", shown: whole },
  { key: "failed", name: "failed runs", shown: whole },
  { key: "inputTokens", name: "tokens read", shown: whole },
  { key: "outputTokens", name: "tokens written", shown: whole },
  { key: "cost", name: "cost", shown: money },
  ...TIMES,
]

/** How much runs, how long it takes, what fails: over time, and by tool, model and format. */
export function Charts() {
  const { span: given = "day" } = useSearch({ strict: false }) as { span?: string }
  const span: Span = given in SPANS ? (given as Span) : "day"
  const navigate = useNavigate()
  const figures = useQuery(figuresQuery(span))
  const { data, error, isPending, refetch } = figures
  return (
    <div className="mx-auto flex max-w-6xl flex-col gap-4 p-4">
      <div className="flex flex-wrap items-center gap-3">
        <h1 className="text-lg font-semibold">Charts</h1>
        <select
          className="field max-w-44"
          aria-label="Of which time"
          value={span}
          onChange={(event) => void navigate({ to: "/charts", search: { span: event.target.value }, replace: true })}
        >
          {Object.entries(SPANS).map(([key, { name }]) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
        </select>
        {data === undefined ? null : (
          <span role="status" className="text-[12px] text-soft">
            {data.more ? "the newest " : ""}
            {data.runs.toLocaleString("en")} runs and single calls counted
            {data.looked < data.runs ? `, the calls of the newest ${data.looked} one by one` : ""}
          </span>
        )}
      </div>
      {isPending ? <Loading what="Counting" /> : null}
      {data === undefined && error !== null ? (
        <Problem title="Nothing could be counted" error={error} retry={() => void refetch()} />
      ) : null}
      {data?.runs === 0 ? (
        <Empty title={`Nothing has run in ${SPANS[span].name}`}>Choose a longer time, or start something.</Empty>
      ) : null}
      {data === undefined || data.runs === 0 ? null : <Pictures figures={data} />}
    </div>
  )
}

function Pictures({ figures }: { figures: Figures }) {
  const lines = useMemo(() => {
    const of = (key: keyof Figures["over"][number]): number[] => figures.over.map((part) => part[key] ?? 0)
    return {
      times: of("time"),
      runs: [
        { name: "runs", colour: "--accent", values: of("runs") },
        { name: "failed", colour: "--bad", values: of("failed") },
      ],
      calls: [
        { name: "calls", colour: "--accent", values: of("calls") },
        { name: "failed", colour: "--bad", values: of("failedCalls") },
      ],
      tokens: [
        { name: "read", colour: "--soft", values: of("inputTokens") },
        { name: "written", colour: "--accent", values: of("outputTokens") },
      ],
      time: [
        { name: "half of the runs within", colour: "--accent", values: of("ms50") },
        { name: "95 % within", colour: "--warn", values: of("ms95") },
      ],
    }
  }, [figures])
  return (
    <>
      <div className="grid grid-cols-2 gap-4 max-md:grid-cols-1">
        <Plot title="Runs of agents" times={lines.times} series={lines.runs} shown={whole} />
        <Plot title="Calls of tools" times={lines.times} series={lines.calls} shown={whole} />
        <Plot title="Tokens" times={lines.times} series={lines.tokens} shown={whole} />
        <Plot title="How long runs take" times={lines.times} series={lines.time} shown={duration} />
      </div>
      <div className="grid grid-cols-2 gap-4 max-md:grid-cols-1">
        <OverTime title="Tools over time" times={lines.times} rows={figures.tools} measures={OF_TOOLS} />
        <OverTime title="Models over time" times={lines.times} rows={figures.models} measures={OF_MODELS} />
      </div>
      <Rows title="Tools" rows={figures.tools} of="calls" tokens={false} />
      <Rows title="Models" rows={figures.models} of="runs" tokens />
      <Rows title="Formats that calls were read in" rows={figures.formats} of="runs" tokens={false} />
    </>
  )
}

/** A column of figures: its name, and how a row says it. */
type Column = [name: string, of: (row: FiguresRow) => string, tone?: (row: FiguresRow) => string]

function columnsOf(rows: readonly FiguresRow[], of: string, tokens: boolean): Column[] {
  const share = ({ failed, count }: FiguresRow): number => Math.round((100 * failed) / Math.max(1, count))
  const repaired = rows.some((row) => row.repaired > 0)
  return [
    [of, ({ count }) => String(count)],
    ["failed", (row) => `${row.failed} (${share(row)} %)`, ({ failed }) => (failed > 0 ? "text-bad" : "")],
    ...(repaired ? ([["put right", (row) => String(row.repaired)]] satisfies Column[]) : []),
    ...(tokens
      ? ([
          ["tokens read, written", ({ inputTokens, outputTokens }) => `${whole(inputTokens)}, ${whole(outputTokens)}`],
        ] satisfies Column[])
      : []),
    ...(rows.some((row) => row.cost !== undefined)
      ? ([["cost", ({ cost }) => (cost === undefined ? "–" : money(cost))]] satisfies Column[])
      : []),
    ["half within", ({ ms50 }) => duration(ms50)],
    ["95 % within", ({ ms95 }) => duration(ms95)],
  ]
}

function Rows({ title, rows, of, tokens }: { title: string; rows: FiguresRow[]; of: string; tokens: boolean }) {
  if (rows.length === 0) return null
  const columns = columnsOf(rows, of, tokens)
  const right = "px-3 py-1.5 text-right font-normal"
  return (
    <div className="overflow-auto rounded-lg border border-line bg-panel" tabIndex={0} role="region" aria-label={title}>
      <table className="w-full border-collapse text-[13px]">
        <thead className="border-b border-line text-soft">
          <tr>
            <th scope="col" className="px-3 py-1.5 text-left font-semibold text-ink">
              {title}
            </th>
            {columns.map(([name]) => (
              <th key={name} scope="col" className={right}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map((row) => (
            <tr key={row.name}>
              <th scope="row" className="px-3 py-1 text-left font-mono text-[12.5px] font-normal">
                {visible(row.name)}
              </th>
              {columns.map(([name, says, tone]) => (
                <td key={name} className={`${right} ${tone?.(row) ?? ""}`}>
                  {says(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
