import { expect, test } from "vitest"
import { ToolRegistry } from "@toolwright/toolbox"
import { callTool } from "@toolwright/host/testing/call-tool"
import { workspaceFixture } from "../testing/workspace-fixture.ts"

const files = {
  "src/stats.ts":
    "/** mean of numbers */\nexport function mean(values: number[]): number {\n  return values.reduce((a, b) => " +
    "a + b, 0) / values.length\n}\n",
  "src/report.py": "from stats import mean\n\ndef report(values):\n    # mean again\n    return f'{mean(values)}'\n",
  "src/index.ts": 'import { mean } from "./stats.ts"\n\nconsole.log(mean([1, 2]), "mean")\n',
  "node_modules/dep/index.js": "export function mean() {}\n",
  ".gitignore": "node_modules\n",
  "notes.md": "mean\n",
}

test("finds definitions and references across languages, without ignored files", async () => {
  using fixture = workspaceFixture(files)
  const navigate = fixture.tools.get("navigate")!
  const definitions = await callTool(navigate, { action: "definitions", name: "mean" })
  expect(definitions.data).toMatchObject({
    total: 1,
    definitions: [{ line: 2, column: 17, kind: "function", end_line: 4 }],
  })
  const references = await callTool(navigate, { action: "references", name: "mean" })
  const { references: found } = references.data as {
    references: { path: string; line: number; role: string; within?: string }[]
  }
  expect(
    found.map(({ path, line, role, within }) => [path.slice(fixture.root.length + 1), line, role, within]),
  ).toEqual([
    ["src/index.ts", 1, "import", undefined],
    ["src/index.ts", 3, "call", undefined],
    ["src/report.py", 1, "import", undefined],
    ["src/report.py", 5, "call", "report"],
    ["src/stats.ts", 2, "definition", undefined],
  ])
  expect(references.output).toMatch(/src\/report\.py:5:15 call in report: return f'\{mean\(values\)\}'/u)
})

test("answers a name that is nowhere, an unknown language and a path outside with what to do", async () => {
  using fixture = workspaceFixture(files)
  const navigate = fixture.tools.get("navigate")!
  expect((await callTool(navigate, { action: "references", name: "median" })).output).toMatch(/use search/u)
  expect(await callTool(navigate, { action: "outline", path: "notes.md" })).toMatchObject({
    success: false,
    error: { code: "UNSUPPORTED_LANGUAGE" },
  })
  expect(await callTool(navigate, { action: "outline", path: "../x.ts" })).toMatchObject({
    success: false,
    error: { code: "ACCESS_DENIED" },
  })
})

test("understands the older names of its actions, and presents each action once", async () => {
  using fixture = workspaceFixture(files)
  const navigate = fixture.tools.get("navigate")!
  expect((await callTool(navigate, { action: "get_file_outline", path: "src/stats.ts" })).output).toBe(
    "2-4: function mean(values: number[]): number",
  )
  expect((await callTool(navigate, { action: "find_imports", path: "src/report.py" })).data).toMatchObject({
    imports: [{ module: "stats", names: ["mean"] }],
  })
  expect((await callTool(navigate, { action: "get_tree", path: "src" })).output).toContain("report.py")
  expect((await callTool(navigate, { action: "list_directory" })).output).toContain("src/")
  expect(navigate.actions!.list.map(({ action }) => action)).toEqual([
    "outline",
    "imports",
    "definitions",
    "references",
    "tree",
    "list_directory",
  ])
})

test("answers a wrong action with the right ones", async () => {
  using fixture = workspaceFixture(files)
  const registry = new ToolRegistry()
  registry.register(fixture.tools.get("navigate")!)
  const wrong = await registry.execute("navigate", { action: "find_references", name: "mean" })
  expect(wrong.success).toBe(false)
  expect(wrong.output).toContain("references")
})
