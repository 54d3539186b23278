import type { SqlValue } from "../database/driver.ts"
import { DEFAULT_MAX_DEPTH } from "../tasks/insert.ts"

/** Who asked for a run, and how deep that is. */
export interface Asked {
  /** The call of another run that asks for it. */
  askedBy?: { run: string; call: string; key: string }
  /** How many agents have asked each other down to it, and how many may. */
  nesting?: { depth: number; max: number }
}

/** The last values of a row of a run. */
export function askedOf({ askedBy, nesting = { depth: 0, max: DEFAULT_MAX_DEPTH } }: Asked): SqlValue[] {
  const { run, call, key } = askedBy ?? { run: null, call: null, key: null }
  return [run, call, key, nesting.depth, nesting.max]
}
