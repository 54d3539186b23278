import type { TaskView } from "./data.ts"

/** A task in a list, as deep as it stands below others of that list. */
export interface TreeRow {
  task: TaskView
  depth: number
}

/** Tasks with those below them right behind them; the order among equals stays. */
export function treeOf(tasks: readonly TaskView[]): TreeRow[] {
  const known = new Set(tasks.map(({ id }) => id))
  const below = new Map<string, TaskView[]>()
  for (const task of tasks) {
    const parent = task.parent !== undefined && known.has(task.parent) ? task.parent : ""
    const others = below.get(parent)
    if (others === undefined) below.set(parent, [task])
    else others.push(task)
  }
  const rows: TreeRow[] = []
  const open: TreeRow[] = (below.get("") ?? []).map((task) => ({ task, depth: 0 })).toReversed()
  for (let row = open.pop(); row !== undefined; row = open.pop()) {
    rows.push(row)
    // Children are listed newest first, as everything is; below their parent they stand in their order.
    for (const task of below.get(row.task.id) ?? []) open.push({ task, depth: row.depth + 1 })
  }
  return rows
}

/** A task in a picture of a plan: its column says how many steps lie before it. */
export interface Placed {
  task: TaskView
  column: number
  line: number
}

export interface PlanGraph {
  nodes: Placed[]
  /** From the task that has to be done first, to the one that waits for it. */
  edges: { from: Placed; to: Placed }[]
  columns: number
  lines: number
}

/** Places the tasks of a plan from left to right, each behind all that it waits for. */
export function graphOf(tasks: readonly TaskView[]): PlanGraph {
  const byId = new Map(tasks.map((task) => [task.id, task]))
  const columns = new Map<string, number>()
  // Tasks are listed newest first; whoever is waited for is the older one, save where somebody retried.
  for (let change = true, turn = 0; change && turn <= tasks.length; turn++) {
    change = false
    for (const { id, after = [] } of tasks) {
      const column = Math.max(
        0,
        ...after.filter((other) => byId.has(other)).map((other) => (columns.get(other) ?? 0) + 1),
      )
      if (column !== (columns.get(id) ?? 0) && column <= tasks.length) {
        columns.set(id, column)
        change = true
      }
    }
  }
  const lines: number[] = []
  const placed = new Map<string, Placed>()
  const inOrder = tasks.toReversed().toSorted((a, b) => (columns.get(a.id) ?? 0) - (columns.get(b.id) ?? 0))
  for (const task of inOrder) {
    const column = columns.get(task.id) ?? 0
    // An arrow over a column needs room there, below what stands in it: whoever it leads to stands lower, too.
    const far = (task.after ?? []).some((id) => column - (placed.get(id)?.column ?? column) > 1)
    const between = far ? Math.max(0, ...lines.slice(1, column).map((count) => count ?? 0)) : 0
    const line = Math.max(lines[column] ?? 0, between)
    lines[column] = line + 1
    placed.set(task.id, { task, column, line })
  }
  const nodes = [...placed.values()]
  const edges = nodes.flatMap((to) =>
    (to.task.after ?? []).flatMap((id) => {
      const from = placed.get(id)
      return from === undefined ? [] : [{ from, to }]
    }),
  )
  return { nodes, edges, columns: lines.length, lines: Math.max(0, ...lines.filter((count) => count !== undefined)) }
}
