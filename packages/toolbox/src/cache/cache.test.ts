import { beforeEach, describe, expect, test, vi } from "vitest"
import {
  canonicalJson,
  createResultCache,
  defineTool,
  failure,
  success,
  ToolRegistry,
  type ResultCacheOptions,
} from "../index.ts"

const files = new Map<string, string>()
const reads = vi.fn()
let clock = 0
beforeEach(() => {
  files.clear()
  files.set("a.txt", "one")
  reads.mockClear()
  clock = 0
})

const read = defineTool({
  name: "read",
  description: "",
  parameters: { type: "object", properties: { path: { type: "string" }, head: { type: "integer" } } },
  effects: { readOnly: true, idempotent: true, reads: ["path"] },
  execute: ({ path }) => {
    reads(path)
    const content = files.get(String(path))
    return content === undefined
      ? failure({ code: "NOT_FOUND", message: "not there" })
      : success({ output: content, data: { lines: [content] } })
  },
})
const write = defineTool({
  name: "write",
  description: "",
  parameters: { type: "object" },
  effects: { writes: ["path"] },
  execute: ({ path, content }) => void files.set(String(path).replace("./", ""), String(content)),
})
const shell = defineTool({ name: "shell", description: "", parameters: { type: "object" }, execute: () => "ran" })

function setUp(options: ResultCacheOptions = {}) {
  const registry = new ToolRegistry()
  for (const tool of [read, write, shell]) registry.register(tool)
  const cache = createResultCache({ now: () => clock, ...options })
  const call = (name: string, args: object, more: object = {}) =>
    registry.execute(name, args, { middleware: [cache.middleware], ...more })
  return { cache, call }
}

describe("a cache of results", () => {
  test("answers the same question once, whatever the order of its keys, for five minutes", async () => {
    const { cache, call } = setUp()
    await call("read", { path: "a.txt", head: 1 })
    const hit = await call("read", { head: 1, path: "a.txt" })
    expect(hit).toMatchObject({ output: "one", metadata: { cached: true } })
    expect(hit.executionTimeMs).toBeGreaterThan(0)
    expect(reads).toHaveBeenCalledTimes(1)
    clock = 300_000
    await call("read", { path: "a.txt", head: 1 })
    expect(reads).toHaveBeenCalledTimes(2)
    expect(cache.statistics()).toMatchObject({ hits: 1, misses: 2, entries: 1 })
  })

  test("keeps no failure", async () => {
    const { call } = setUp()
    await call("read", { path: "none" })
    await call("read", { path: "none" })
    expect(reads).toHaveBeenCalledTimes(2)
  })

  test("forgets what a write touches, and nothing else", async () => {
    files.set("b.txt", "b")
    const { call } = setUp()
    await call("read", { path: "a.txt" })
    await call("read", { path: "b.txt" })
    await call("write", { path: "./a.txt", content: "two" })
    expect((await call("read", { path: "a.txt" })).output).toBe("two")
    await call("read", { path: "b.txt" })
    expect(reads).toHaveBeenCalledTimes(3)
  })

  test("forgets everything when nobody knows what a call writes", async () => {
    const { cache, call } = setUp()
    await call("read", { path: "a.txt" })
    await call("shell", {})
    expect(cache.statistics().entries).toBe(0)
  })

  test("keeps no result that was read while something was written", async () => {
    const { cache, call } = setUp()
    reads.mockImplementationOnce(() => cache.invalidate(["a.txt"]))
    await call("read", { path: "a.txt" })
    await call("read", { path: "a.txt" })
    expect(reads).toHaveBeenCalledTimes(2)
  })

  test("notices a change from outside by the fingerprint, and keeps nothing where there is none", async () => {
    const { call } = setUp({ fingerprint: ([path]) => (path === "c.txt" ? undefined : files.get(path!)) })
    files.set("c.txt", "c")
    for (const path of ["a.txt", "a.txt", "c.txt", "c.txt"]) await call("read", { path })
    expect(reads).toHaveBeenCalledTimes(3)
    files.set("a.txt", "changed")
    expect((await call("read", { path: "a.txt" })).output).toBe("changed")
  })

  test("is passed by when asked to, and cannot be changed through a result", async () => {
    const { call } = setUp()
    const first = await call("read", { path: "a.txt" })
    ;(first.data as { lines: string[] }).lines.push("mine")
    expect((await call("read", { path: "a.txt" })).data).toEqual({ lines: ["one"] })
    await call("read", { path: "a.txt" }, { noCache: true })
    expect(reads).toHaveBeenCalledTimes(2)
  })

  test("stays within its bytes; what was used last stays", async () => {
    for (const name of ["x", "y", "z"]) files.set(name, name.repeat(100))
    const { cache, call } = setUp({ maxBytes: 700 })
    await call("read", { path: "x" })
    await call("read", { path: "y" })
    await call("read", { path: "x" })
    await call("read", { path: "z" })
    expect(cache.statistics().bytes).toBeLessThanOrEqual(700)
    reads.mockClear()
    await call("read", { path: "x" })
    expect(reads).not.toHaveBeenCalled()
    await call("read", { path: "y" })
    expect(reads).toHaveBeenCalledTimes(1)
  })
})

test("canonical JSON sorts keys at every depth and keeps arrays in order", () => {
  expect(canonicalJson({ b: [{ d: 1, c: null }], a: undefined })).toBe('{"b":[{"c":null,"d":1}]}')
})
