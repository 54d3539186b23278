import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

const root = join(import.meta.dirname, "../..")
/** Installed by the first `npm run check`. */
const OXLINT = join(root, ".ci/checks/node_modules/.bin/oxlint")
const LIST = join(import.meta.dirname, "limits.json")

/** How many functions of each file are longer, more complex or wider than the limits, by rule. */
function overLimits(): Record<string, number> {
  const { stdout } = spawnSync(
    OXLINT,
    ["-c", join(import.meta.dirname, "limits.oxlintrc.json"), "-f", "json", "packages", "bench"],
    { cwd: root, encoding: "utf8", maxBuffer: 1 << 26 },
  )
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string; filename: string }[] }
  const counts: Record<string, number> = {}
  for (const { code, filename } of diagnostics.filter(
    (found) => !/\.test\.ts$|\/(dist|fixtures|testing|\.peers)\//.test(found.filename),
  )) {
    const key = `${filename} ${/\((.+)\)/.exec(code)?.[1] ?? code}`
    counts[key] = (counts[key] ?? 0) + 1
  }
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)))
}

test.skipIf(!existsSync(OXLINT))(
  "functions keep to 60 lines, complexity 15, five parameters and four levels; the list of exceptions only shrinks",
  () => {
    const found = overLimits()
    const listed = JSON.parse(readFileSync(LIST, "utf8")) as Record<string, number>
    const grown = Object.entries(found).filter(([key, count]) => count > (listed[key] ?? 0))
    if (process.env.UPDATE_LIMITS === "1" && grown.length === 0) {
      writeFileSync(LIST, `${JSON.stringify(found, null, 2)}\n`)
      return
    }
    expect(grown, "split these functions").toEqual([])
    expect(
      Object.entries(listed).filter(([key, count]) => (found[key] ?? 0) < count),
      "the list is longer than it need be: UPDATE_LIMITS=1 npx vitest run .ci/house/limits.test.ts",
    ).toEqual([])
  },
)
