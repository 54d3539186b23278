import { realpathSync } from "node:fs"
import { isAbsolute, relative, resolve } from "node:path"
import type { Surroundings } from "./setting.ts"

/** Folders inside the one that tools may touch anyway; with none of them the setting is left out. */
export function rootsInside(value: unknown, { cwd }: Surroundings): unknown {
  return listOrNothing((value as string[]).filter((folder) => isInside(cwd, folder)))
}

/**
 * Folders to read inside the one that tools may touch anyway. A file that asks for reading alone, of folders elsewhere,
 * gets the current one to read: leaving the setting out would let tools write there.
 */
export function readOnlyInside(value: unknown, { cwd, values }: Surroundings): unknown {
  const inside = (value as string[]).filter((folder) => isInside(cwd, folder))
  return listOrNothing(inside) ?? (values.has("workspace.roots") ? undefined : ["."])
}

/** Patterns that hide; one with `!` before it shows what is hidden otherwise. */
export function withoutExceptions(value: unknown): unknown {
  return listOrNothing((value as string[]).filter((pattern) => !pattern.trim().startsWith("!")))
}

/** Rules for single agents without those that allow. */
export function withoutAllow(value: unknown): unknown {
  const narrowing = Object.entries(value as Record<string, unknown>).map(([agent, rules]): [string, unknown] => [
    agent,
    typeof rules === "object" && rules !== null && !Array.isArray(rules)
      ? Object.fromEntries(Object.entries(rules).filter(([key]) => key !== "allow"))
      : rules,
  ])
  return Object.fromEntries(narrowing)
}

/** As much as nobody is surprised by; more may cost more than anybody expects of a folder that was cloned. */
export function atMost(limit: number): (value: unknown) => unknown {
  return (value) => Math.min(value as number, limit)
}

function listOrNothing(list: string[]): string[] | undefined {
  return list.length === 0 ? undefined : list
}

/** Whether a folder lies in another one, links resolved: a link that was committed leads elsewhere. */
function isInside(cwd: string, folder: string): boolean {
  try {
    const below = relative(realpathSync(cwd), realpathSync(resolve(cwd, folder)))
    return below === "" || (!/^\.\.($|[\\/])/.test(below) && !isAbsolute(below))
  } catch {
    return false
  }
}
