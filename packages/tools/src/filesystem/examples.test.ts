import { describe, expect, test } from "vitest"
import { echo } from "../echo/echo.ts"
import { fileFixture } from "../testing/file-fixture.ts"

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)
const FILES = {
  "src/index.ts": "export const answer = 41\n// TODO: check\n",
  "notes.txt": "first line\nsecond line\nthird line\n",
  "logo.png": PNG,
}

describe("the examples of each tool, as they are shown to models, run", () => {
  using files = fileFixture(FILES)
  const examples = [...files.registry.list(), echo].flatMap((tool) =>
    (tool.examples ?? []).map((example) => ({ tool, ...example })),
  )

  test.each(examples)("$tool.name: $description", async ({ tool, input, output }) => {
    using fresh = fileFixture(FILES)
    if (fresh.registry.get(tool.name) === undefined) fresh.registry.register(tool)
    const result = await fresh.call(tool.name, input)
    expect(result.output).not.toBe("")
    expect(result.success, result.output).toBe(true)
    if (output !== undefined) expect(result.data).toEqual(output)
  })

  test("there is one for every tool and every action", () => {
    for (const tool of files.registry.list()) {
      expect(tool.examples?.length, tool.name).toBeGreaterThan(0)
      for (const action of tool.actions?.list ?? [])
        expect(action.examples?.length, `${tool.name} ${action.action}`).toBeGreaterThan(0)
    }
  })
})
