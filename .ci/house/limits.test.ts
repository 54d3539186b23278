import { spawnSync } from "node:child_process"
import { existsSync, globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

const root = join(import.meta.dirname, "../..")
/** Installed by the first `npm run check`. */
const OXLINT = join(root, ".ci/checks/node_modules/.bin/oxlint")
const PRODUCTION = (file: string): boolean => !/\.test\.tsx?$|\/(dist|fixtures|testing|\.peers)\//.test(file)

/** Lines that are longer than 120 characters: patterns and embedded programs, whose words no formatter parts. */
const LONG_LINES = 59

test.skipIf(!existsSync(OXLINT))("functions keep to 60 lines, complexity 15, five parameters and four levels", () => {
  const { stdout } = spawnSync(
    OXLINT,
    ["-c", join(import.meta.dirname, "limits.oxlintrc.json"), "-f", "json", "packages", "bench"],
    { cwd: root, encoding: "utf8", maxBuffer: 1 << 26 },
  )
  const { diagnostics, number_of_files: looked } = JSON.parse(stdout) as {
    diagnostics: { code: string; filename: string; message: string }[]
    number_of_files: number
  }
  const found = diagnostics
    .filter(({ filename }) => PRODUCTION(filename))
    .map(({ filename, message }) => `${filename}: ${message}`)
  expect(looked).toBeGreaterThan(1500)
  // That the rules are looked at at all, tests show, whose functions may be longer.
  expect(diagnostics.length).toBeGreaterThan(10)
  expect(found, "part these functions where their parts have names").toEqual([])
})

test("fewer than sixty lines are longer than 120 characters, and none than 220", () => {
  const lines = globSync("packages/*/src/**/*.{ts,tsx}", { cwd: root })
    .filter(PRODUCTION)
    .flatMap((file) =>
      readFileSync(join(root, file), "utf8")
        .split("\n")
        .map((text, at) => ({ length: text.length, where: `${file}:${at + 1}` })),
    )
    .filter(({ length }) => length > 120)
  const where = lines.map((line) => line.where)
  expect(where.length, `part one of these at its words:\n${where.join("\n")}`).toBeLessThanOrEqual(LONG_LINES)
  expect(lines.filter(({ length }) => length > 220)).toEqual([])
})
