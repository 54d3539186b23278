import { createToolwright } from "@toolwright/runtime"
import { defineTool } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { folderWith } from "../testing/run-cli.ts"
import { offeredTools } from "./offered-tools.ts"

const base = { description: "Looks", parameters: { type: "object" }, execute: () => "" } as const
const tools = [
  defineTool({ ...base, name: "says_nothing" }),
  defineTool({ ...base, name: "reads", effects: { readOnly: true } }),
  defineTool({ ...base, name: "deletes", effects: { destructive: true } }),
]

test("tools that do not say whether they only read are left out with those that write, and told apart", async () => {
  const cwd = folderWith({})
  for (const { readOnly, secured, hidden } of [
    { readOnly: [], secured: false, hidden: ["says_nothing", "deletes"] },
    { readOnly: ["."], secured: true, hidden: [] },
  ]) {
    const workspace = readOnly.length === 0 ? {} : { workspace: { readOnly } }
    await using toolwright = await createToolwright({ tools, cwd, record: false, ...workspace })
    const offered = offeredTools(toolwright, { secured })
    const own = (names: readonly string[]) => names.filter((name) => tools.some((tool) => tool.name === name))
    expect(own(offered.tools.list().map(({ name }) => name))).toEqual(["reads"])
    expect([own(offered.hidden), offered.silent]).toEqual([hidden, ["says_nothing"]])
  }
})
