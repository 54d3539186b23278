import { existsSync } from "node:fs"
import { join } from "node:path"
import { createScriptedBackend, serveBackend } from "@toolwright/backends"
import { expect, test } from "vitest"
import { folderWith } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

const PLAY = { "play.yaml": "steps: [{ reply: Done., repeat: always }]\n" }

test.each<[string, string[], string]>([
  ["run", ["run", "hi", "--screenplay", "play.yaml"], ""],
  ["chat", ["chat", "--screenplay", "play.yaml"], "hi\n"],
  ["tools", ["tools", "call", "echo", "--message", "hi"], ""],
])("%s keeps a record, and none with --no-record", async (_, args, stdin) => {
  for (const [more, kept] of [
    [["--no-record"], false],
    [[], true],
  ] as const) {
    const cwd = folderWith(PLAY)
    expect(await here([...args, ...more], { cwd, stdin })).toMatchObject({ code: 0 })
    expect(existsSync(join(cwd, ".toolwright/state.sqlite"))).toBe(kept)
  }
})

test("run --no-tools offers the model no tool", async () => {
  const cwd = folderWith()
  const backend = createScriptedBackend({
    model: "m",
    abilities: { nativeTools: true },
    steps: [{ repeat: "always", reply: "Done." }],
  })
  await using model = await serveBackend(backend)
  const line = ["run", "hi", "--model", "m", "--base-url", model.baseUrl]
  for (const [more, offered] of [
    [["--no-tools"], false],
    [[], true],
  ] as const) {
    expect((await here([...line, ...more], { cwd })).code).toBe(0)
    const sent = backend.requests.at(-1)!
    expect((sent.tools ?? []).length > 0).toBe(offered)
  }
})

test("tools of a kind are all there is, or all but some, or none", async () => {
  const cwd = folderWith()
  const names = async (...args: string[]) => {
    const { stdout } = await here(["tools", "list", "--json", ...args], { cwd })
    return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)
  }
  const all = await names()
  expect(await names("--only-tools", "echo", "--only-tools", "bash")).toEqual(
    all.filter((name) => name === "echo" || name === "bash"),
  )
  expect(await names("--without-tools", "echo")).toEqual(all.filter((name) => name !== "echo"))
  expect(await names("--no-builtins")).toEqual([])
})
