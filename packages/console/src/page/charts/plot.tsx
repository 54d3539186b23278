import { useEffect, useRef, useSyncExternalStore, type ReactNode } from "react"
import UPlot from "uplot"
import "uplot/dist/uPlot.min.css"

/** A line of a chart. */
export interface Series {
  name: string
  /** A colour of the style sheet, as `--good`. */
  colour: string
  values: number[]
  /** Lengths of its strokes and gaps; a whole line unless given. */
  dash?: number[]
}

interface PlotProps {
  title: string
  times: number[]
  series: Series[]
  /** How a value is written. */
  shown: (value: number) => string
  /** What stands beside the title. */
  children?: ReactNode
}

const HEIGHT = 170

/** A colour as a canvas takes it. */
function colourOf(element: HTMLElement, name: string): string {
  const probe = document.createElement("span")
  probe.className = "hidden"
  probe.style.color = `var(${name})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

const dark = (): MediaQueryList => matchMedia("(prefers-color-scheme: dark)")
function onScheme(listener: () => void): () => void {
  const list = dark()
  list.addEventListener("change", listener)
  const watcher = new MutationObserver(listener)
  watcher.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] })
  return () => {
    list.removeEventListener("change", listener)
    watcher.disconnect()
  }
}
const scheme = (): string => `${document.documentElement.dataset.theme ?? ""} ${dark().matches}`

/** What stands at the lines of a scale: 0 without a unit, and nothing that stands at the line below already. */
function ticks(values: readonly number[], shown: (value: number) => string): string[] {
  const texts = values.map((value) => (value === 0 ? "0" : shown(value)))
  // Of 0.5 and 1 runs, the half is the one that is not there.
  return texts.map((text, at) => (text === texts[at + 1] ? "" : text))
}

const DAY_SECONDS = 86_400
const CLOCK = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const
const DATE = { day: "numeric", month: "short" } as const

const moment = (seconds: number): string => new Date(seconds * 1000).toLocaleString("en-GB", { ...DATE, ...CLOCK })

/** Times below a chart: the clock, and the day where one begins. */
function moments(times: readonly number[], step: number): string[] {
  return times.map((seconds, at) => {
    const time = new Date(seconds * 1000)
    const day = time.toLocaleDateString("en-GB", DATE)
    if (step >= DAY_SECONDS) return day
    const before = at === 0 ? undefined : new Date(times[at - 1]! * 1000).toLocaleDateString("en-GB", DATE)
    const clock = time.toLocaleTimeString("en-GB", CLOCK)
    return day === before ? clock : `${clock}\n${day}`
  })
}

/** How a chart is drawn in the colours that hold now. */
function optionsOf(element: HTMLElement, series: readonly Series[], shown: (value: number) => string): UPlot.Options {
  const [soft, line] = [colourOf(element, "--soft"), colourOf(element, "--line")]
  const axis = { stroke: soft, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } }
  return {
    width: Math.max(120, element.clientWidth),
    height: HEIGHT,
    legend: { live: true },
    cursor: { y: false, points: { size: 6 } },
    scales: { y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.1 : 1] } },
    axes: [
      { ...axis, space: 70, values: (_plot, times, _axis, _space, step) => moments(times, step) },
      { ...axis, size: 64, values: (_plot, values) => ticks(values, shown) },
    ],
    series: [
      { label: "At", value: (_plot: UPlot, time: number | null) => (time === null ? "–" : moment(time)) },
      ...series.map(({ name, colour, dash }) => ({
        label: name,
        stroke: colourOf(element, colour),
        width: 1.5,
        ...(dash === undefined ? {} : { dash }),
        points: { show: false },
        value: (_plot: UPlot, value: number | null) => (value === null ? "–" : shown(value)),
      })),
    ],
  }
}

/** Values over time. The same stands below it in words, for whoever does not see it. */
export function Plot({ title, times, series, shown, children }: PlotProps) {
  const place = useRef<HTMLDivElement>(null)
  const colours = useSyncExternalStore(onScheme, scheme)
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const data: UPlot.AlignedData = [times.map((time) => time / 1000), ...series.map(({ values }) => values)]
    const plot = new UPlot(optionsOf(element, series, shown), data, element)
    const watcher = new ResizeObserver(() =>
      plot.setSize({ width: Math.max(120, element.clientWidth), height: HEIGHT }),
    )
    watcher.observe(element)
    return () => {
      watcher.disconnect()
      plot.destroy()
    }
  }, [times, series, shown, colours])
  return (
    <figure className="m-0 min-w-0 rounded-lg border border-line bg-panel p-3">
      <figcaption className="mb-1 flex items-center justify-between gap-2 font-semibold">
        {title}
        {children}
      </figcaption>
      <div ref={place} className="plot" aria-hidden />
      <InWords title={title} times={times} series={series} shown={shown} />
    </figure>
  )
}

function InWords({ title, times, series, shown }: PlotProps) {
  const rows = times.flatMap((time, index) =>
    series.every(({ values }) => values[index] === 0) ? [] : [{ time, index }],
  )
  return (
    // A table keeps its width whatever it is told; what stands around it does not.
    <div className="sr-only">
      <table>
        <caption>{title.endsWith("over time") ? title : `${title}, over time`}</caption>
        <thead>
          <tr>
            <th scope="col">from</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ time, index }) => (
            <tr key={time}>
              <th scope="row">{new Date(time).toLocaleString()}</th>
              {series.map(({ name, values }) => (
                <td key={name}>{shown(values[index] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
