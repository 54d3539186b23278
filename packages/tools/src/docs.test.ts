import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { JsonObject } from "@toolwright/toolbox"
import { callTool } from "@toolwright/host/testing/call-tool"
import { workspaceFixture } from "./testing/workspace-fixture.ts"

const page = (name: string) => readFileSync(join(import.meta.dirname, "../../../docs", name), "utf8")
const blocks = (text: string) =>
  [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```/gmu)].map(([, language, content]) => ({
    language: language!,
    content: content!,
  }))

test("the calls in workspace-artifacts.md write the files that it shows", async () => {
  using fixture = workspaceFixture()
  const workspace = fixture.tools.get("workspace")!
  let path = ""
  let compared = 0
  for (const { language, content } of blocks(page("workspace-artifacts.md"))) {
    if (language === "json") {
      const calls = content.startsWith("{\n") ? [content] : content.trim().split("\n")
      for (const call of calls) {
        const args = JSON.parse(call) as JsonObject
        path = String(args.path)
        expect((await callTool(workspace, args)).error, call).toBeUndefined()
      }
    } else if (language === "python" || language === "ts") {
      expect(readFileSync(join(fixture.root, path), "utf8")).toBe(content)
      compared++
    }
  }
  expect(compared).toBe(2)
})

test("the template in workspace-artifacts.md lays out a file", async () => {
  const template = blocks(page("workspace-artifacts.md")).find(({ language }) => language === "jinja")!.content
  using fixture = workspaceFixture({}, { templates: { python: template } })
  await callTool(fixture.tools.get("workspace")!, { action: "add_variable", path: "a.py", name: "A", value: 1 })
  expect(readFileSync(join(fixture.root, "a.py"), "utf8")).toBe("# a.py is generated; change its artifacts.\n\nA = 1\n")
})

test("the example in sandbox.md runs and answers as it says", async () => {
  const example = blocks(page("sandbox.md")).find(({ language }) => language === "ts")!.content
  const child = spawn(
    process.execPath,
    ["--conditions=toolwright-source", "--input-type=module-typescript", "--eval", example],
    {
      cwd: join(import.meta.dirname, "../../.."),
      stdio: ["ignore", "pipe", "pipe"],
    },
  )
  let text = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (text += String(data)))
  await new Promise((done) => child.on("close", done))
  expect(text).toMatch(/^true (?:bubblewrap|none)\nCOMMAND_NOT_ALLOWED Not allowed: curl\.\n$/u)
})
