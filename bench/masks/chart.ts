/** One schema: its size in characters, what compiling it and a mask of it cost, in microseconds. */
export interface CostPoint {
  readonly size: number
  readonly compile: number
  readonly mask: number
}

interface VocabularyPoint {
  readonly name: string
  readonly size: number
  readonly mask: number
  readonly again: number
}

const [WIDTH, HEIGHT, LEFT, TOP] = [430, 300, 60, 40]

/** Two panels: cost against the size of the schema, on logarithmic axes, and against the size of the vocabulary. */
export function costChart(schemas: readonly CostPoint[], vocabularies: readonly VocabularyPoint[]): string {
  const left = schemaPanel(schemas)
  const right = vocabularyPanel(vocabularies)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${2 * (WIDTH + LEFT) + 60}" height="${HEIGHT + TOP + 60}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
<g transform="translate(${LEFT},${TOP})">${left}</g>
<g transform="translate(${2 * LEFT + WIDTH + 30},${TOP})">${right}</g>
</svg>
`
}

function schemaPanel(points: readonly CostPoint[]): string {
  const x = (size: number): number => ((Math.log10(size) - 1.5) / 4) * WIDTH
  const y = (cost: number): number => HEIGHT - ((Math.log10(Math.max(cost, 0.1)) + 1) / 7) * HEIGHT
  const dots = (pick: (point: CostPoint) => number, colour: string): string =>
    points
      .map(
        (point) =>
          `<circle cx="${x(point.size).toFixed(1)}" cy="${y(pick(point)).toFixed(1)}" r="3" fill="${colour}" ` +
          `fill-opacity="0.6"/>`,
      )
      .join("")
  const rows = [-1, 0, 1, 2, 3, 4, 5, 6].map((power) => line(y(10 ** power), unit(10 ** power))).join("")
  const columns = [2, 3, 4, 5]
    .map(
      (power) => `<text x="${x(10 ** power).toFixed(1)}" y="${HEIGHT + 18}" text-anchor="middle">${10 ** power}</text>`,
    )
    .join("")
  return `${rows}${columns}${dots(({ compile }) => compile, "#c2571a")}${dots(({ mask }) => mask, "#1a6fc2")}
<text x="0" y="-16" font-weight="bold">Cost against schema size (characters)</text>
<text x="${WIDTH - 120}" y="-16" fill="#c2571a">compile</text><text x="${WIDTH - 60}" y="-16" fill="#1a6fc2">mask, mean</text>`
}

function vocabularyPanel(points: readonly VocabularyPoint[]): string {
  const most = Math.max(...points.map(({ mask }) => mask)) * 1.1
  const x = (size: number): number => (size / 160_000) * WIDTH
  const y = (cost: number): number => HEIGHT - (cost / most) * HEIGHT
  const path = (pick: (point: VocabularyPoint) => number, colour: string): string => {
    const corners = points
      .toSorted((a, b) => a.size - b.size)
      .map((point) => `${x(point.size).toFixed(1)},${y(pick(point)).toFixed(1)}`)
    return `<polyline points="${corners.join(" ")}" fill="none" stroke="${colour}" stroke-width="2"/>`
  }
  const rows = [0, 0.25, 0.5, 0.75, 1].map((share) => line(y(most * share), unit(most * share))).join("")
  const labels = points
    .map(
      (point) =>
        `<text x="${x(point.size).toFixed(1)}" y="${HEIGHT + (point.name === "qwen2" ? 34 : 18)}" ` +
        `text-anchor="middle">${point.name} ${point.size}</text>`,
    )
    .join("")
  return `${rows}${labels}${path(({ mask }) => mask, "#1a6fc2")}${path(({ again }) => again, "#2a9d57")}
<text x="0" y="-16" font-weight="bold">Mean mask against vocabulary size</text>
<text x="${WIDTH - 130}" y="-16" fill="#1a6fc2">first time</text><text x="${WIDTH - 60}" y="-16" fill="#2a9d57">seen before</text>`
}

const line = (y: number, label: string): string =>
  `<line x1="0" x2="${WIDTH}" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}" stroke="#ddd"/><text x="-6" ` +
  `y="${(y + 4).toFixed(1)}" text-anchor="end">${label}</text>`

function unit(microseconds: number): string {
  if (microseconds >= 1000) return `${Math.round(microseconds / 100) / 10} ms`
  return `${Math.round(microseconds * 10) / 10} µs`
}
