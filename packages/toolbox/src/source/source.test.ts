import { expect, test, vi } from "vitest"
import { attachSource, defineTool, localSource, ToolRegistry, type ToolDefinition, type ToolSource } from "../index.ts"

const tool = (name: string): ToolDefinition =>
  defineTool({ name, description: name, tags: ["own"], parameters: { type: "object" }, execute: () => name })

function changing(names: string[]) {
  let listener = (): void => {}
  const close = vi.fn(async () => {})
  const source: ToolSource = {
    provenance: { kind: "mcp", name: "files" },
    list: async () => names.map(tool),
    onChange: (call) => {
      listener = call
      return () => (listener = () => {})
    },
    close,
  }
  return {
    source,
    close,
    change: (next: string[]) => {
      names = next
      listener()
    },
  }
}

const namesOf = (registry: ToolRegistry) => registry.list().map(({ name }) => name)

test("tools of a source stand in the registry with prefix, names, tags and origin, filtered", async () => {
  const registry = new ToolRegistry()
  const { source } = changing(["read", "write", "delete_all"])
  await attachSource(registry, source, {
    prefix: "fs",
    rename: { write: "save" },
    deny: ["delete_*"],
    tags: ["remote"],
    sets: ["reading"],
  })
  expect(registry.view({ sets: ["reading"] }).list()).toEqual(registry.list())
  expect(registry.view({ sets: ["general"] }).list(), "as without").toEqual(registry.list())
  expect(namesOf(registry)).toEqual(["fs_read", "save"])
  expect(registry.get("fs_read")).toMatchObject({ tags: ["own", "remote"], provenance: { kind: "mcp", name: "files" } })
  expect((await registry.execute("fs_read", {})).data).toBe("read")
})

test("the registry follows the source, and closing takes its tools away", async () => {
  const registry = new ToolRegistry()
  registry.register(tool("mine"))
  const { source, change, close } = changing(["read"])
  const attached = await attachSource(registry, source)
  change(["read", "stat"])
  await vi.waitFor(() => expect(namesOf(registry)).toEqual(["mine", "read", "stat"]))
  await attached.close()
  expect(namesOf(registry)).toEqual(["mine"])
  expect(close).toHaveBeenCalled()
  change(["late"])
  expect(namesOf(registry)).toEqual(["mine"])
})

test("a collision names both owners, and leaves the registry as it was", async () => {
  const registry = new ToolRegistry()
  await attachSource(registry, localSource("first", [tool("read")]))
  const { source } = changing(["other", "read"])
  await expect(attachSource(registry, source)).rejects.toMatchObject({
    code: "DUPLICATE_TOOL",
    message: "Two tools are named 'read': one of the local source 'first', one of the mcp source 'files'.",
  })
  expect(namesOf(registry)).toEqual(["read"])
})

test("a later change that collides is reported, and the earlier tools stay", async () => {
  const registry = new ToolRegistry()
  registry.register(tool("mine"))
  const { source, change } = changing(["read"])
  const onError = vi.fn()
  await attachSource(registry, source, {}, onError)
  change(["mine"])
  await vi.waitFor(() => expect(onError).toHaveBeenCalled())
  expect(namesOf(registry)).toEqual(["mine", "read"])
})

test("tags of a source are tags", async () => {
  await expect(attachSource(new ToolRegistry(), localSource("x", []), { tags: ["BAD TAG!"] })).rejects.toMatchObject({
    code: "INVALID_CONFIGURATION",
  })
})
