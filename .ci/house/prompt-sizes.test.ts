import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { run } from "../../bench/prompt-sizes.ts"
import { root } from "./run-example.ts"

/**
 * Real vocabularies, by which tokens are counted, lie beside the repository: where they do not, only tools are counted.
 */
const counted = existsSync(join(root, "../shared/data/vocab/qwen2.json"))

test("the tools of every agent, in every delivery, are at most twelve and take at most 1,500 tokens of a prompt", async () => {
  const { figures } = await run()
  const over = Object.entries(figures).filter(([name, value]) => value > (name.endsWith("_tools") ? 12 : 1_500))
  expect(over).toEqual([])
  const agents = Object.keys(figures).filter((name) => name.endsWith("_native_tools"))
  expect(agents.length).toBeGreaterThan(5)
  expect(Object.keys(figures).filter((name) => name.endsWith("_tokens")).length > 0).toBe(counted)
})
