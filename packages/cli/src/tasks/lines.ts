import { shownTask, type TaskRow } from "@toolwright/store/state"
import type { Invocation } from "../command.ts"
import { columnsOf, cut } from "../render/room.ts"
import { duration, oneLine } from "../render/short.ts"
import { neutralise } from "../render/neutralise.ts"

/** A task on one line: its id, how it stands, who does it, what is to be done, and why it stands so. */
export function summaryLine(task: TaskRow, indent = "", width = 20): string {
  const { line, why } = partsOf(task, indent, width)
  return why === undefined ? line : `${line}: ${why}`
}

function partsOf(task: TaskRow, indent: string, width: number): { line: string; why?: string } {
  const row = shownTask(task)
  const { id, state, agent, reason, attempts } = row
  const tries = attempts > 1 ? ` (try ${attempts})` : ""
  const left = `${`${indent}${id}`.padEnd(width)}  ${`${state}${tries}`.padEnd(16)}  ${neutralise(agent)}: `
  return {
    line: `${left}${oneLine(wordsOf(row), 70)}`,
    ...(reason === null || state === "done" ? {} : { why: oneLine(reason, 100) }),
  }
}

/** What is said where there are none. */
export function noTasks(target: string): string {
  return `No tasks are queued in ${target}. 'toolwright tasks add "…"' puts one there, 'toolwright work' does them.`
}

/**
 * Tasks as a tree: those that a task asked for stand below it, in the order in which they were added.
 *
 * @param world where a person reads them; one line for each unless given
 */
export function taskTree(rows: readonly TaskRow[], world?: Pick<Invocation, "stdout" | "isTTY">): string[] {
  const ids = new Set(rows.map(({ id }) => id))
  const below = Map.groupBy(rows, ({ parent }) => (parent !== null && ids.has(parent) ? parent : ""))
  const drawn: [TaskRow, string][] = []
  const draw = (parent: string, indent: string): void => {
    const tasks = below.get(parent) ?? []
    // The list is newest first; what belongs to one task reads better in the order in which it came.
    for (const row of parent === "" ? tasks : tasks.toReversed()) {
      drawn.push([row, indent])
      draw(row.id, `${indent}  `)
    }
  }
  draw("", "")
  const width = Math.max(20, ...drawn.map(([{ id }, indent]) => indent.length + id.length))
  if (world?.isTTY.stdout !== true) return drawn.map(([row, indent]) => summaryLine(row, indent, width))
  // A person reads it in columns: what does not fit is cut, and why a task stands as it does is told below it.
  const room = columnsOf(world)
  return drawn.flatMap(([row, indent]) => {
    const { line, why } = partsOf(row, indent, width)
    return [line, ...(why === undefined ? [] : [`${indent}  ${why}`])].map((each) => cut(each, room))
  })
}

/** Everything about a task, for a person; `there` is what a command needs to find its database. */
export function factsOf(
  task: TaskRow,
  after: readonly string[] = [],
  children: readonly TaskRow[] = [],
  there = "",
): string[] {
  const row = shownTask(task)
  const facts: [string, string | undefined][] = [
    ["state", `${row.state}${row.reason === null ? "" : `: ${row.reason}`}`],
    ["agent", row.agent],
    ["task", wordsOf(row)],
    ["priority", row.priority === 0 ? undefined : String(row.priority)],
    ["starts", `${row.attempts} of ${row.max_attempts}`],
    ["after", after.length === 0 ? undefined : after.join(", ")],
    ["asked by", row.parent ?? undefined],
    ["workspace", row.workspace ?? undefined],
    ["worktree", worktreeOf(row)],
    ["budget", row.budget ?? undefined],
    ["not before", row.not_before === null ? undefined : new Date(row.not_before).toISOString()],
    ["took", tookOf(row)],
    ["run", row.run === null ? undefined : `toolwright runs show ${row.run}${there}`],
    ["result", resultOf(row)],
    ["undo", changedSomething(row) ? `toolwright undo ${row.id}${there}` : undefined],
  ]
  const lines = facts.flatMap(([name, value]) =>
    value === undefined ? [] : [`  ${name.padEnd(11)}${neutralise(value)}`],
  )
  return [row.id, ...lines, ...children.toReversed().map((child) => summaryLine(child, "  "))]
}

function tookOf({ started_at, ended_at }: TaskRow): string | undefined {
  return started_at === null || ended_at === null ? undefined : duration(ended_at - started_at)
}

function changedSomething({ result }: TaskRow): boolean {
  const { modifiedFiles } = (JSON.parse(result ?? "null") ?? {}) as { modifiedFiles?: unknown[] }
  return Array.isArray(modifiedFiles) && modifiedFiles.length > 0
}

/** The branch that it is done on, where it has one of its own. */
function worktreeOf({ id, input }: TaskRow): string | undefined {
  const { worktree, resolves } = (JSON.parse(input) ?? {}) as { worktree?: unknown; resolves?: unknown }
  return worktree === true ? `on the branch toolwright/${typeof resolves === "string" ? resolves : id}` : undefined
}

/** What a run said at its end; whole where something else was kept. */
function resultOf({ result }: TaskRow): string | undefined {
  if (result === null) return undefined
  const value = JSON.parse(result) as { message?: unknown } | null
  return typeof value?.message === "string" ? value.message : result
}

export function wordsOf({ input }: TaskRow): string {
  const value = JSON.parse(input) as { task?: unknown } | string | null
  if (typeof value === "string") return value
  return typeof value?.task === "string" ? value.task : input
}
