import { visible } from "../lib/text.ts"
import { titleOf, type TaskView } from "./data.ts"
import { graphOf, type Placed } from "./tree.ts"

const [WIDTH, HEIGHT, GAP_X, GAP_Y, EDGE] = [168, 44, 46, 14, 10]
const MOST = 400

const COLOURS: Readonly<Record<string, string>> = {
  done: "var(--good)",
  running: "var(--accent)",
  "needs-approval": "var(--warn)",
  failed: "var(--bad)",
  blocked: "var(--bad)",
  abandoned: "var(--bad)",
}

/**
 * A plan: tasks from left to right, with an arrow from each to those that wait for it. The list below says the same in
 * words.
 */
export function PlanPicture({ tasks, open }: { tasks: readonly TaskView[]; open: (id: string) => void }) {
  if (tasks.length > MOST)
    return <p className="p-3 text-soft">A picture of {tasks.length} tasks would show nothing: see the list.</p>
  const { nodes, edges, columns, lines } = graphOf(tasks)
  const width = columns * (WIDTH + GAP_X) - GAP_X + 2 * EDGE
  const height = lines * (HEIGHT + GAP_Y) - GAP_Y + 2 * EDGE
  return (
    <div
      className="max-h-[45%] flex-none overflow-auto border-b border-line bg-ground"
      tabIndex={0}
      role="group"
      aria-label="The plan as a graph"
    >
      <svg width={width} height={height} role="presentation">
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0 L8 4 L0 8 z" fill="var(--soft)" />
          </marker>
        </defs>
        {edges.map(({ from, to }) => (
          <path
            key={`${from.task.id} ${to.task.id}`}
            d={curve(from, to)}
            fill="none"
            stroke="var(--soft)"
            strokeWidth="1.25"
            markerEnd="url(#arrow)"
          />
        ))}
        {nodes.map((node) => (
          <PlanNode key={node.task.id} node={node} open={open} />
        ))}
      </svg>
    </div>
  )
}

const leftOf = ({ column }: Placed): number => EDGE + column * (WIDTH + GAP_X)
const topOf = ({ line }: Placed): number => EDGE + line * (HEIGHT + GAP_Y)

function curve(from: Placed, to: Placed): string {
  const [x1, y1] = [leftOf(from) + WIDTH, topOf(from) + HEIGHT / 2]
  const [x2, y2] = [leftOf(to), topOf(to) + HEIGHT / 2]
  // Over a column it goes at the height of where it ends, which is free.
  if (to.column - from.column > 1) {
    const [turn, half] = [x1 + GAP_X, x1 + GAP_X / 2]
    return `M${x1} ${y1} C${half} ${y1} ${half} ${y2} ${turn} ${y2} L${x2} ${y2}`
  }
  const bend = Math.max(24, (x2 - x1) / 2)
  return `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`
}

function PlanNode({ node, open }: { node: Placed; open: (id: string) => void }) {
  const { id, state, agent } = node.task
  const colour = COLOURS[state] ?? "var(--soft)"
  return (
    <foreignObject x={leftOf(node)} y={topOf(node)} width={WIDTH} height={HEIGHT}>
      <button
        type="button"
        onClick={() => open(id)}
        title={titleOf(node.task)}
        className="flex h-full w-full flex-col justify-center overflow-hidden rounded-md border border-line bg-panel px-2 text-left hover:bg-raised"
      >
        <span className="flex items-center gap-1.5 text-[11px] text-soft">
          <svg width="8" height="8" aria-hidden>
            <circle cx="4" cy="4" r="4" fill={colour} />
          </svg>
          {state.replaceAll("-", " ")} · {visible(agent)}
        </span>
        <span className="block w-full truncate text-[12.5px] font-medium">{visible(titleOf(node.task))}</span>
      </button>
    </foreignObject>
  )
}
