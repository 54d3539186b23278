import { useMemo, useState } from "react"
import { visible } from "../lib/text.ts"
import { MOST_LINES, type FiguresRow, type FiguresSeries } from "./data.ts"
import { Plot } from "./plot.tsx"

/** What of a tool or a model is drawn, and how a value of it is written. */
export interface Measure {
  key: keyof FiguresSeries
  name: string
  shown: (value: number) => string
}

/** Lines differ in colour, and beyond the third in their dashes too. */
const LINES: readonly { colour: string; dash?: number[] }[] = [
  { colour: "--accent" },
  { colour: "--warn" },
  { colour: "--bad" },
  { colour: "--good", dash: [6, 3] },
  { colour: "--ink", dash: [6, 3] },
  { colour: "--soft", dash: [2, 3] },
]

interface OverTimeProps {
  title: string
  times: number[]
  rows: readonly FiguresRow[]
  measures: readonly Measure[]
}

/** The most frequent tools or models over time, a line each, in the measure that is chosen. */
export function OverTime({ title, times, rows, measures }: OverTimeProps) {
  const told = measures.filter(({ key }) => rows.some(({ over }) => over?.[key] !== undefined))
  const [chosen, setChosen] = useState<string>("count")
  const measure = told.find(({ key }) => key === chosen) ?? told[0]
  const series = useMemo(
    () =>
      rows.slice(0, MOST_LINES).flatMap(({ name, over }, index) => {
        const values = measure === undefined ? undefined : over?.[measure.key]
        return values === undefined ? [] : [{ name: visible(name), values, ...LINES[index]! }]
      }),
    [rows, measure],
  )
  if (measure === undefined || series.length === 0) return null
  return (
    <Plot title={title} times={times} series={series} shown={measure.shown}>
      <select
        className="field w-auto"
        aria-label={`What of ${title.toLowerCase()}`}
        value={measure.key}
        onChange={(event) => setChosen(event.target.value)}
      >
        {told.map(({ key, name }) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </select>
    </Plot>
  )
}
