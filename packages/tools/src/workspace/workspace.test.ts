import { fork } from "node:child_process"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import type { JsonObject } from "@toolwright/toolbox"
import { createWorkspace } from "@toolwright/host/paths"
import { callTool } from "@toolwright/host/testing/call-tool"
import { workspaceFixture, type WorkspaceFixture } from "../testing/workspace-fixture.ts"
import { hashOf } from "./state.ts"

const call = (fixture: WorkspaceFixture, args: JsonObject) => callTool(fixture.tools.get("workspace")!, args)
const read = (fixture: WorkspaceFixture, path: string) => readFileSync(join(fixture.root, path), "utf8")
const write = (fixture: WorkspaceFixture, path: string, name: string, body: string, more: JsonObject = {}) =>
  call(fixture, {
    action: "write",
    path,
    json_artifact: { element_type: "function", element_data: { name, body } },
    ...more,
  })

describe("workspace", () => {
  test("writes below directories that are not there yet", async () => {
    using fixture = workspaceFixture()
    const result = await write(fixture, "src/game/rules/engine.ts", "start", "return 1")
    expect(result.modifiedFiles).toEqual(["src/game/rules/engine.ts", ".meta/src/game/rules/engine.ts.json"])
    expect(read(fixture, "src/game/rules/engine.ts")).toBe("export function start() {\n  return 1\n}\n")
    expect((await call(fixture, { action: "create_dir", path: "tests/unit/deep" })).modifiedFiles).toEqual([
      "tests/unit/deep",
    ])
    expect(existsSync(join(fixture.root, "tests/unit/deep"))).toBe(true)
  })

  test("replaces the element of the same name and keeps the others in their order", async () => {
    using fixture = workspaceFixture()
    for (const name of ["a", "b", "c"]) await write(fixture, "m.ts", name, `return "${name}"`)
    const result = await write(fixture, "m.ts", "b", "return \"<new> & 'better'\"")
    expect(result.output).toContain("function b replaced")
    expect(read(fixture, "m.ts")).toBe(
      'export function a() {\n  return "a"\n}\n\nexport function b() {\n  return "<new> & \'better\'"\n}\n\n' +
        'export function c() {\n  return "c"\n}\n',
    )
  })

  test("does not touch a file that would stay the same", async () => {
    using fixture = workspaceFixture()
    await write(fixture, "m.ts", "a", "return 1")
    const before = statSync(join(fixture.root, "m.ts"))
    const result = await write(fixture, "m.ts", "a", "return 1")
    expect(result).toMatchObject({ success: true, modifiedFiles: [], data: { changed: false } })
    expect(statSync(join(fixture.root, "m.ts")).ino).toBe(before.ino)
  })

  test("writes nothing that cannot be parsed, and shows what it would be", async () => {
    using fixture = workspaceFixture()
    await write(fixture, "m.ts", "a", "return 1")
    const result = await write(fixture, "m.ts", "b", "if (x {\n  return 1\n}")
    expect(result).toMatchObject({
      success: false,
      error: { code: "SYNTAX_ERROR", details: { path: "m.ts", line: 6 } },
      modifiedFiles: [],
    })
    expect(result.output).toContain("   6 |   if (x {")
    expect(read(fixture, "m.ts")).not.toContain("function b")
    expect(JSON.parse(read(fixture, ".meta/m.ts.json"))).toMatchObject({ elements: [{ element_data: { name: "a" } }] })
  })

  test("does not overwrite what somebody else wrote or changed, unless told to", async () => {
    using fixture = workspaceFixture({ "hand.ts": "precious()\n" })
    expect(await write(fixture, "hand.ts", "a", "return 1")).toMatchObject({
      success: false,
      error: { code: "NOT_GENERATED" },
    })
    await write(fixture, "made.ts", "a", "return 1")
    fixture.write({ "made.ts": "export function a() {\n  return 2\n}\n" })
    const refused = await write(fixture, "made.ts", "b", "return 1")
    expect(refused).toMatchObject({ success: false, error: { code: "CHANGED_OUTSIDE" } })
    expect(refused.output).toContain('"overwrite": true')
    expect(read(fixture, "hand.ts") + read(fixture, "made.ts")).toContain(
      "precious()\nexport function a() {\n  return 2",
    )
    expect((await write(fixture, "hand.ts", "a", "return 1", { overwrite: true })).success).toBe(true)
    expect(read(fixture, "hand.ts")).toBe("export function a() {\n  return 1\n}\n")
  })

  test("reads a file with the artifacts that make it again", async () => {
    using fixture = workspaceFixture()
    await write(fixture, "a.ts", "f", "const x = 1\nreturn `${x}`")
    const { data } = await call(fixture, { action: "read", path: "a.ts" })
    const { content, elements } = data as { content: string; elements: JsonObject[] }
    await call(fixture, { action: "write", path: "b.ts", json_artifact: elements[0]! })
    expect(read(fixture, "b.ts")).toBe(content)
    expect(await call(fixture, { action: "read", path: "missing.ts" })).toMatchObject({
      success: false,
      error: { code: "NOT_FOUND" },
    })
  })

  test("builds a file step by step", async () => {
    using fixture = workspaceFixture()
    const path = "src/board.ts"
    const steps: JsonObject[] = [
      { action: "create_file", path, docstring: "The board." },
      { action: "add_import", path, module: "./pieces.ts", names: ["King"] },
      { action: "add_import", path, module: "./pieces.ts", names: ["Queen as Q"] },
      { action: "add_variable", path, name: "SIZE", type: "number", value: 8 },
      { action: "add_class", path, name: "Board", docstring: "All squares." },
      { action: "add_field", path, class_name: "Board", name: "squares", type: "string[]", default: [] },
      { action: "add_function", path, class_name: "Board", name: "size", return_type: "number", body: "return SIZE" },
      {
        action: "add_function",
        path,
        name: "make",
        parameters: [{ name: "n", type: "number", default: 1 }],
        body: "return new Board()",
      },
      { action: "add_field", path, class_name: "Board", name: "squares", type: "string[]", default: ["a"] },
      { action: "complete_file", path },
    ]
    for (const step of steps)
      expect({ step, error: (await call(fixture, step)).error }).toEqual({ step, error: undefined })
    expect(read(fixture, path)).toBe(`/** The board. */

import { King, Queen as Q } from "./pieces.ts"

export const SIZE: number = 8

/** All squares. */
export class Board {
  squares: string[] = ["a"]

  size(): number {
    return SIZE
  }
}

export function make(n: number = 1) {
  return new Board()
}
`)
    expect((await call(fixture, { action: "list", path })).data).toMatchObject({
      complete: true,
      elements: [
        { name: "./pieces.ts" },
        { name: "SIZE" },
        { name: "Board" },
        { name: "Board.size" },
        { name: "make" },
      ],
    })
    expect((await call(fixture, { action: "list" })).data).toEqual({ files: [path] })
  })

  test.each<[JsonObject, string, RegExp]>([
    [{ action: "add_field", path: "a.ts", class_name: "Nope", name: "x" }, "UNKNOWN_CLASS", /add_class/u],
    [
      {
        action: "write",
        path: "a.rs",
        json_artifact: { element_type: "function", element_data: { name: "f", body: "1" } },
      },
      "UNSUPPORTED_LANGUAGE",
      /\.py, .*\.ts/u,
    ],
    [
      {
        action: "write",
        path: "../a.ts",
        json_artifact: { element_type: "function", element_data: { name: "f", body: "1" } },
      },
      "ACCESS_DENIED",
      /Allowed directories/u,
    ],
    [
      {
        action: "write",
        path: ".meta/a.ts",
        json_artifact: { element_type: "function", element_data: { name: "f", body: "1" } },
      },
      "ACCESS_DENIED",
      /kept by this tool/u,
    ],
    [
      {
        action: "write",
        path: ".git/hooks/x.py",
        json_artifact: { element_type: "function", element_data: { name: "f", body: "1" } },
      },
      "ACCESS_DENIED",
      /\.git/u,
    ],
    [{ action: "complete_file", path: "nowhere.ts" }, "NOT_FOUND", /create_file/u],
  ])("answers %j with %s and what to do", async (args, code, hint) => {
    using fixture = workspaceFixture()
    const result = await call(fixture, args)
    expect(result).toMatchObject({ success: false, error: { code } })
    expect(result.output).toMatch(hint)
    expect(readdirSync(fixture.root)).toEqual([])
  })

  test("takes the spellings that models use", async () => {
    using fixture = workspaceFixture()
    const artifact = {
      element_type: "function",
      element_data: {
        name: "f",
        params: ["a: int", "b: str = 'x'"],
        returns: "int",
        code: ["x = a", "return x"],
        description: "Does it.",
      },
    }
    const result = await call(fixture, { action: "write", file_path: "f.py", json_artifact: JSON.stringify(artifact) })
    expect(result.error).toBeUndefined()
    expect(read(fixture, "f.py")).toBe(
      'def f(a: int, b: str = \'x\') -> int:\n    """Does it."""\n    x = a\n    return x\n',
    )
  })

  test("loses nothing when many elements are written at once", async () => {
    using fixture = workspaceFixture()
    const names = Array.from({ length: 20 }, (_, index) => `f${index}`)
    await Promise.all(names.map((name) => write(fixture, "many.ts", name, "return 1")))
    expect(read(fixture, "many.ts").match(/export function/gu)).toHaveLength(20)
  })

  test("carries on after a kill between the state and the file", async () => {
    using fixture = workspaceFixture()
    await write(fixture, "m.ts", "a", "return 1")
    const old = read(fixture, "m.ts")
    await write(fixture, "m.ts", "b", "return 2")
    fixture.write({ "m.ts": old })
    expect((await write(fixture, "m.ts", "c", "return 3")).error).toBeUndefined()
    expect(read(fixture, "m.ts").match(/function \w/gu)).toEqual(["function a", "function b", "function c"])
  })

  test("begins anew when somebody removed the file", async () => {
    using fixture = workspaceFixture()
    await write(fixture, "m.ts", "a", "return 1")
    await write(fixture, "m.ts", "b", "return 1")
    await fixture.workspace.removeFile("m.ts")
    await write(fixture, "m.ts", "c", "return 1")
    expect(read(fixture, "m.ts")).toBe("export function c() {\n  return 1\n}\n")
  })
})

/** Kills of a run; more of them, for an hour's doubt, by the environment. */
const KILLS = Number(process.env.TOOLWRIGHT_KILLS ?? 8)

test("killed at any moment, the file is whole, old or new, and the next write carries on", async () => {
  using fixture = workspaceFixture()
  const script = new URL("fixtures/endless-writer.ts", import.meta.url).pathname
  let last = -1
  for (let round = 0; round < KILLS; round++) {
    const child = fork(script, [fixture.root, join(fixture.root, "..", "state"), String(last + 1)], {
      execArgv: ["--conditions=toolwright-source", "--disable-warning=ExperimentalWarning"],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    })
    await new Promise((ready) => child.once("message", ready))
    await wait(Math.random() * 25)
    child.kill("SIGKILL")
    await new Promise((gone) => child.once("exit", gone))
    const text = read(fixture, "big.ts")
    const found = /return (\d+)\n\}\n$/u.exec(text)
    expect(found, text.slice(-80)).not.toBeNull()
    const state = JSON.parse(read(fixture, ".meta/big.ts.json")) as { hash: string; previousHash: string }
    expect([state.hash, state.previousHash]).toContain(hashOf(text))
    last = Math.max(Number(found![1]), last)
  }
  // A new start removes what the killed ones left, and the next change is accepted.
  const workspace = createWorkspace({
    roots: [{ path: fixture.root, access: "read-write" }],
    stateDirectory: join(fixture.root, "..", "state"),
  })
  await workspace.recover()
  expect((await write(fixture, "big.ts", "last", "return 9")).error).toBeUndefined()
  expect(readdirSync(fixture.root).sort()).toEqual([".meta", "big.ts"])
  expect(readdirSync(join(fixture.root, ".meta"))).toEqual(["big.ts.json"])
  expect(last).toBeGreaterThanOrEqual(KILLS - 1)
}, 3_600_000)
