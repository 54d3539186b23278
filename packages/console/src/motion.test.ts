import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

test("what moves without end moves for nobody who asked for less motion", () => {
  const page = join(import.meta.dirname, "page")
  const sources = (readdirSync(page, { recursive: true }) as string[]).filter((path) => path.endsWith(".tsx"))
  const moving = sources.flatMap((path) =>
    [...readFileSync(join(page, path), "utf8").matchAll(/[\w:-]*\banimate-[\w-]+/g)].map(([name]) => name),
  )
  expect(moving.length).toBeGreaterThan(0)
  expect(moving.filter((name) => !name.startsWith("motion-safe:"))).toEqual([])
})
