import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { folderWith } from "./testing/run-cli.ts"
import { HAS_TERMINAL, startInTerminal } from "./testing/run-terminal.ts"

// Needs a pseudo terminal, made by util-linux's `script`.
describe.skipIf(!HAS_TERMINAL)("a run in a terminal", () => {
  test("asks before a call that needs approval, and nothing is drawn over the question", async () => {
    const cwd = folderWith({
      "a.txt": "a\n",
      "toolwright.yaml": "permissions:\n  ask: [delete_file]\n",
      "play.yaml": "steps:\n  - reply: { calls: [{ name: delete_file, args: { path: a.txt } }] }\n  - reply: Gone.\n",
    })
    const terminal = startInTerminal(["run", "delete", "--screenplay", "play.yaml"], { cwd })
    await terminal.until(/Allow delete_file path=a\.txt\? \[y\/N\] /)
    // Long enough for the line below a run to be drawn several times.
    await new Promise((resolve) => setTimeout(resolve, 350))
    terminal.type("y\r")
    expect(await terminal.until(/[^]*Gone\./)).toMatch(/^y\r\n(?!.*running delete_file)[^]*delete_file/)
    expect(await terminal.exited).toBe(0)
    expect(existsSync(join(cwd, "a.txt"))).toBe(false)
  })
})
