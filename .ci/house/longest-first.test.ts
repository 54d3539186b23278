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

test("the longest come first, files of a project stand together, and none is lost", async () => {
  const file = (name: string, path: string): TestSpecification =>
    ({ moduleId: join(root, path), project: { name, config: { isolate: true, sequence: { groupOrder: 0 } } } }) as never
  const ofConsole = [file("console", "packages/console/src/d.test.ts"), file("apart", "packages/host/src/e.test.ts")]
  const longest = LONGEST.map((path) => file("rooms", path))
  const starting = [file("rooms", "packages/tools/src/b.test.ts"), file("rooms", "packages/cli/src/f.test.ts")]
  const others = [file("rooms", "packages/agents/src/a.test.ts"), file("rooms", "packages/logits/src/c.test.ts")]
  const context = { config: { root }, cache: { getTestSpecificationResult: () => ({ failed: false, duration: 1 }) } }
  const given = [...longest.toReversed(), ...ofConsole.toReversed(), ...others, ...starting]
  const inOrder = [...ofConsole, ...longest, ...starting, ...others]
  expect(await new LongestFirst(context as unknown as Vitest).sort(given)).toEqual(inOrder)
})
