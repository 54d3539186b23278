import { useEffect, useMemo, useRef } from "react"
import { duration } from "../lib/text.ts"
import { failed, timeLine, type Row } from "./rows.ts"

const HEIGHT = 34

/** Where the time went: the model above, calls below. A picture of what the list says in words. */
export function TimeLine({
  rows,
  version,
  selected,
  select,
}: {
  rows: readonly Row[]
  /** Raised with each change of the rows, which grow in place. */
  version: number
  selected: number | undefined
  select: (seq: number) => void
}) {
  const canvas = useRef<HTMLCanvasElement>(null)
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  const line = useMemo(() => timeLine(rows), [rows, version])
  useEffect(() => {
    const element = canvas.current
    if (element === null) return
    const draw = (): void => paint(element, line, selected)
    draw()
    const watcher = new ResizeObserver(draw)
    watcher.observe(element)
    const scheme = matchMedia("(prefers-color-scheme: dark)")
    scheme.addEventListener("change", draw)
    return () => {
      watcher.disconnect()
      scheme.removeEventListener("change", draw)
    }
  }, [line, selected])
  if (line.bars.length === 0) return null
  const click = (event: React.MouseEvent<HTMLCanvasElement>): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    const at = ((event.clientX - left) / width) * line.length
    const near = line.bars.reduce((best, bar) => (distance(bar, at) < distance(best, at) ? bar : best))
    select(near.row.seq)
  }
  return (
    <figure className="m-0 border-b border-line bg-panel px-3 py-1.5">
      <canvas ref={canvas} className="block w-full cursor-pointer" height={HEIGHT} onClick={click} aria-hidden />
      <figcaption className="flex justify-between text-[11px] text-soft">
        <span>model above, calls below</span>
        <span>
          {duration(line.length)}
          {line.idle > 0 ? `, ${duration(line.idle)} idle left out` : ""}
        </span>
      </figcaption>
    </figure>
  )
}

const distance = ({ from, to }: { from: number; to: number }, at: number): number =>
  at < from ? from - at : at > to ? at - to : 0

function paint(
  canvas: HTMLCanvasElement,
  { bars, length }: ReturnType<typeof timeLine>,
  selected: number | undefined,
): void {
  const ratio = devicePixelRatio
  const width = canvas.clientWidth
  canvas.width = width * ratio
  canvas.height = HEIGHT * ratio
  canvas.style.height = `${HEIGHT}px`
  const context = canvas.getContext("2d")
  if (context === null) return
  const colour = colourOf(canvas)
  context.scale(ratio, ratio)
  context.fillStyle = colour("--raised")
  context.fillRect(0, 4, width, 11)
  context.fillRect(0, 19, width, 11)
  for (const { row, from, to } of bars) {
    const x = (from / length) * width
    context.fillStyle = colour(failed(row) ? "--bad" : row.kind === "reply" ? "--soft" : "--accent")
    context.fillRect(x, row.kind === "reply" ? 4 : 19, Math.max(1.5, ((to - from) / length) * width), 11)
    if (row.seq === selected) {
      context.strokeStyle = colour("--ink")
      context.lineWidth = 2
      context.strokeRect(x, row.kind === "reply" ? 3 : 18, Math.max(3, ((to - from) / length) * width), 13)
    }
  }
}

/** Colours of the style sheet as a canvas takes them: the page's own, in the scheme that holds. */
function colourOf(element: HTMLElement): (name: string) => string {
  const known = new Map<string, string>()
  const style = getComputedStyle(element)
  const dark =
    style.colorScheme === "dark" ||
    (style.colorScheme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches)
  return (name) => {
    const kept = known.get(name)
    if (kept !== undefined) return kept
    const value = style.getPropertyValue(name)
    const both = /light-dark\(([^,]+),([^)]+)\)/.exec(value)
    const found = (both === null ? value : both[dark ? 2 : 1]!).trim()
    known.set(name, found)
    return found
  }
}
