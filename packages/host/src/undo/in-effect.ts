import type { Change, ChangeEntry } from "./change-log.ts"
import { sameState } from "./entry-state.ts"

/** A change with the entry that it belongs to. */
export interface LoggedChange {
  readonly entry: ChangeEntry
  readonly change: Change
}

/**
 * All changes of a log by path, each path's in the order in which they happened. What changed nothing is left out, but
 * for a taking back: what had been put back by hand, or by the same run, is no longer in effect since then.
 */
export function changesByPath(entries: readonly ChangeEntry[]): Map<string, LoggedChange[]> {
  const paths = new Map<string, LoggedChange[]>()
  for (const entry of entries) {
    for (const change of entry.changes) {
      const { before, after, undoes } = change
      if (undoes === undefined && after !== undefined && sameState(before, after)) continue
      const list = paths.get(change.path)
      if (list === undefined) paths.set(change.path, [{ entry, change }])
      else list.push({ entry, change })
    }
  }
  for (const list of paths.values()) list.sort((one, other) => one.change.n - other.change.n)
  return paths
}

/**
 * The changes of one path that are in effect, oldest first: a change and its taking back cancel each other, as brackets
 * do, and what is taken back twice is in effect again.
 *
 * @param changes of one path, in order; may begin anywhere
 */
export function changesInEffect(changes: readonly LoggedChange[]): LoggedChange[] {
  let stack: LoggedChange[] = []
  /** Of each taking back: what it took off the stack. Of each doing again: what it put there again. */
  const taken = new Map<number, LoggedChange[]>()
  const restored = new Map<number, readonly number[]>()
  for (const each of changes) {
    const { n, undoes = [] } = each.change
    const again = undoes.length === 1 ? taken.get(undoes[0]!) : undefined
    const wanted = undoes.flatMap((one) => restored.get(one) ?? [one])
    const top = stack.slice(stack.length - wanted.length).map(({ change }) => change.n)
    if (again !== undefined) {
      stack = [...stack, ...again]
      restored.set(
        n,
        again.map(({ change }) => change.n),
      )
    } else if (wanted.length > 0 && top.length === wanted.length && top.every((one, at) => one === wanted[at])) {
      taken.set(n, stack.slice(stack.length - wanted.length))
      stack = stack.slice(0, stack.length - wanted.length)
    } else stack.push(each)
  }
  return stack
}
