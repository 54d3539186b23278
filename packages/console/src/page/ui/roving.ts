import type { KeyboardEvent } from "react"

/**
 * Arrows, Home and End move the focus among what a list, such as a menu or a row of tabs, holds; beyond the last comes
 * the first.
 *
 * @param role of what it moves among
 */
export function roving(role: string, [back, on]: readonly [string, string]) {
  return (event: KeyboardEvent<HTMLElement>): void => {
    const all = [...event.currentTarget.querySelectorAll<HTMLElement>(`[role="${role}"]`)]
    const at = all.indexOf(document.activeElement as HTMLElement)
    const next = {
      [back]: at <= 0 ? all.length - 1 : at - 1,
      [on]: (at + 1) % all.length,
      Home: 0,
      End: all.length - 1,
    }
    const to = next[event.key]
    if (to === undefined) return
    event.preventDefault()
    all[to]?.focus()
  }
}
