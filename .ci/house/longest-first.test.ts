import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { TestSpecification, Vitest } from "vitest/node"
import LongestFirst, { LONGEST } from "../longest-first.ts"

const root = join(import.meta.dirname, "../..")

test("the files that are begun first are there, each once", () => {
  expect(LONGEST.filter((path) => !existsSync(join(root, path)) && !path.startsWith(".ci/clients/"))).toEqual([])
  expect(new Set(LONGEST).size).toBe(LONGEST.length)
})

test("the longest files of all rooms come first, the others room by room, and none is lost", async () => {
  const file = (name: string, path: string): TestSpecification =>
    ({ moduleId: join(root, path), project: { name, config: { isolate: true, sequence: { groupOrder: 0 } } } }) as never
  const others = [file("agents", "packages/agents/src/a.test.ts"), file("tools", "packages/tools/src/b.test.ts")]
  const long = LONGEST.slice(0, 3).map((path) => file("tools", path))
  const context = { config: { root }, cache: { getTestSpecificationResult: () => ({ failed: false, duration: 1 }) } }
  const sorted = await new LongestFirst(context as unknown as Vitest).sort([...others, ...long.toReversed()])
  expect(sorted).toEqual([...long, ...others])
})
