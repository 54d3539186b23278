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
      "play.yaml":
        "steps:\n  - reply: { calls: [{ name: delete_file, arguments: { path: a.txt } }] }\n  - reply: Gone.\n",
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

  test("shows what a call would replace before it asks", async () => {
    const cwd = folderWith({
      "a.txt": "one\ntwo\n",
      "toolwright.yaml": "permissions:\n  ask: [file_write]\n",
      "play.yaml":
        "steps:\n  - reply: { calls: [{ name: file_write, arguments: { path: a.txt, content: other } }] }\n  - " +
        "reply: Left.\n",
    })
    const terminal = startInTerminal(["run", "write", "--screenplay", "play.yaml"], { cwd })
    const shown = await terminal.until(/[^]*Allow file_write path=a\.txt content=other\? \[y\/N\] /)
    expect(shown).toMatch(/This replaces \S+a\.txt: 2 lines before, 1 line now\.[^]*-one\r?\n *-two\r?\n *\+other/)
    terminal.type("n\r")
    await terminal.exited
  })

  const asking = (tool: string, ...calls: string[]) =>
    folderWith({
      "a.txt": "a\n",
      "b.txt": "b\n",
      "toolwright.yaml": `permissions:\n  ask: [${tool}]\n`,
      "play.yaml": `steps:\n  - reply: { text: Well., delayMs: 300, calls: [${calls.join(", ")}] }\n  - reply: Done.\n`,
    })

  test("what was typed before the question answers it as little as the end of the input", async () => {
    const cwd = asking("delete_file", "{ name: delete_file, arguments: { path: a.txt } }")
    const typed = startInTerminal(["run", "delete", "--screenplay", "play.yaml"], { cwd })
    typed.type("y\r")
    await typed.until(/\[y\/N\] /)
    typed.type("n\r")
    await typed.until(/was not approved[^]*Done\./)
    await typed.exited
    const left = startInTerminal(["run", "delete", "--screenplay", "play.yaml"], { cwd })
    await left.until(/\[y\/N\] /)
    left.type("\u0004")
    await left.until(/^\r\n[^]*was not approved[^]*Done\./)
    expect(await left.exited).toBe(1)
    expect(existsSync(join(cwd, "a.txt"))).toBe(true)
  })

  test("a task that is added says who does it and how it is looked at, and its id alone to a program", async () => {
    const cwd = folderWith({})
    const terminal = startInTerminal(["tasks", "add", "look", "--agent", "reviewer"], { cwd })
    const said = await terminal.until(/[^]*toolwright tasks show (\w+)\r\n/)
    expect(said).toMatch(/^(\w+)\r\nIt waits for a worker, which has reviewer do it: 'toolwright work'[^]*show \1\r\n$/)
    expect(await terminal.exited).toBe(0)
  })

  test("each of several calls at once is asked about by itself", async () => {
    const cwd = asking(
      "file_read",
      "{ name: file_read, arguments: { path: a.txt } }",
      "{ name: file_read, arguments: { path: b.txt } }",
    )
    const terminal = startInTerminal(["run", "read", "--screenplay", "play.yaml"], { cwd })
    await terminal.until(/Allow file_read path=a\.txt\? \[y\/N\] /)
    terminal.type("y\r")
    await terminal.until(/Allow file_read path=b\.txt\? \[y\/N\] /)
    terminal.type("n\r")
    await terminal.until(/was not approved[^]*Done\./)
    expect(await terminal.exited).toBe(1)
  })
})
