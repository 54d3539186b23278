import type { Invocation } from "../command.ts"
import { wrapped } from "../usage.ts"

/** Columns that a line may take: those of the terminal; where a program reads, so many that hardly anything is cut. */
export function columnsOf({ stdout, isTTY }: Pick<Invocation, "stdout" | "isTTY">): number {
  return isTTY.stdout ? stdout.columns || 100 : 200
}

/** So narrow a column is no longer read with ease. */
const LEAST = 30

/**
 * A line of a list, whose last column goes on below itself where a terminal is too narrow; where that leaves little
 * room it goes on a little further in than the line begins. Where a program reads, an entry stays one line.
 */
export function listed(
  { left, text }: { left: string; text: string },
  world: Pick<Invocation, "stdout" | "isTTY">,
): string[] {
  if (!world.isTTY.stdout) return [`${left}${text}`]
  const columns = columnsOf(world)
  if (columns - left.length >= LEAST) {
    const indent = " ".repeat(left.length)
    return wrapped(text, columns - left.length).map((line, at) => `${at === 0 ? left : indent}${line}`)
  }
  return [left.trimEnd(), ...wrapped(text, Math.max(LEAST, columns - 4)).map((line) => `    ${line}`)]
}

/** A line that keeps its columns, cut where the terminal ends. */
export function cut(line: string, columns: number): string {
  const characters = Array.from(line)
  return characters.length <= columns ? line : `${characters.slice(0, columns - 1).join("")}…`
}

/** How wide a column is in which all of these stand, up to a bound. */
export function widthOf(cells: readonly string[], most = 60): number {
  return Math.min(most, Math.max(0, ...cells.map((cell) => cell.length)))
}
