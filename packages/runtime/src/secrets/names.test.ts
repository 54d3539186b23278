import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createScriptedBackend } from "@toolwright/backends"
import type { Middleware } from "@toolwright/toolbox"
import { beforeEach, describe, expect, test } from "vitest"
import { createToolwright } from "../toolwright.ts"
import { changeHistory } from "../workspace/tool-workspace.ts"

const GITHUB = `ghp_${"aB3".repeat(12)}`
const VALUE = "correct-horse-7-battery"

let home: string
let cwd: string
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "names-")))
  cwd = join(home, "work")
  mkdirSync(cwd)
  return () => rmSync(home, { recursive: true, force: true })
})
const env = () => ({
  DEPLOY_TOKEN: VALUE,
  PATH: process.env.PATH ?? "",
  HOME: home,
  XDG_STATE_HOME: join(home, "state"),
})

/** Files that hold one of the secrets, in what was written down; names of files count too. */
function holding(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => {
    const path = join(folder, name)
    const text = lstatSync(path).isFile() ? readFileSync(path, "latin1") : ""
    return [GITHUB, VALUE].some((secret) => name.includes(secret) || text.includes(secret))
  })
}

const SEEMS_SEALED = `sealed:${"A".repeat(60)}`
const CALLS = [
  { name: "file_write", arguments: { path: `${GITHUB}.txt`, content: "one\n" } },
  { name: "bash", arguments: { command: "for f in *.txt; do cp $f copy-$f; ln -s $f link-$f; done" } },
  { name: "move_file", arguments: { source: `${GITHUB}.txt`, destination: `${VALUE}.txt` } },
  { name: "file_write", arguments: { path: SEEMS_SEALED, content: "not sealed\n" } },
]

const approve = async () => true

describe("a name of a file that holds a secret", () => {
  test("stands in clear in no record, what was changed is told without it, and all of it can be taken back", async () => {
    const steps = [...CALLS.map((call) => ({ reply: { calls: [call] } })), { reply: "Done." }]
    const backend = createScriptedBackend({ abilities: { nativeTools: true }, steps })
    await using toolwright = await createToolwright({ cwd, env: env(), backend, withBuiltins: true, approve })
    const ends: string[] = []
    let run = ""
    for await (const event of toolwright.run("Do it")) {
      if (event.type === "run-start") run = event.runId
      if (event.type === "tool-end" || event.type === "run-end") ends.push(JSON.stringify(event))
    }
    expect(ends).toHaveLength(CALLS.length + 1)
    expect(ends.filter((text) => text.includes(GITHUB) || text.includes(VALUE))).toEqual([])
    expect(ends.filter((text) => !text.includes("[secret]"))).toHaveLength(1)
    expect(readdirSync(cwd).toSorted()).toEqual(
      [".toolwright", `${VALUE}.txt`, `copy-${GITHUB}.txt`, `link-${GITHUB}.txt`, SEEMS_SEALED].toSorted(),
    )
    expect(holding(join(cwd, ".toolwright"))).toEqual([])
    expect(holding(join(home, "state"))).toEqual([])
    const history = (await changeHistory(toolwright.configuration, cwd, env()))!
    const { refused, id } = await history.undo(run)
    expect([refused, readdirSync(cwd)]).toEqual([[], [".toolwright"]])
    expect(holding(join(cwd, ".toolwright"))).toEqual([])
    await history.undo(id)
    expect(readdirSync(cwd)).toContain(`${VALUE}.txt`)
  })

  test("is in no record of a program that still runs, nor in the answer of a call by hand", async () => {
    writeFileSync(join(cwd, `${GITHUB}.txt`), "one\n")
    await using toolwright = await createToolwright({ cwd, env: env(), withBuiltins: true, approve })
    const call = { name: "bash", arguments: { command: `cp ${GITHUB}.txt copy-${GITHUB}.txt; cat` } }
    const { registry, middleware } = toolwright
    const heard: string[] = []
    const result = await toolwright.executeCall("tools")(registry, call, {
      middleware: [...middleware, lookDuring],
      onEvent: (event) => void heard.push(JSON.stringify(event)),
    })
    expect(result.modifiedFiles).toEqual(["copy-[secret].txt"])
    expect(heard.filter((text) => text.includes("tool-end") && text.includes(GITHUB))).toEqual([])
    expect(during).toEqual({ trees: 1, holding: [] })
    expect(holding(join(cwd, ".toolwright"))).toEqual([])
  })
})

/** Set by {@link lookDuring}. */
let during: { trees: number; holding: string[] } | undefined

/** Looks at what is kept while the call's program runs: it has been started once the tree is there. */
const lookDuring: Middleware = async (_call, next) => {
  const trees = join(cwd, ".toolwright/undo/trees")
  const result = next()
  while (!existsSync(trees) || readdirSync(trees).length === 0) await new Promise((resolve) => setImmediate(resolve))
  during = { trees: readdirSync(trees).length, holding: holding(join(cwd, ".toolwright/undo")) }
  return await result
}
