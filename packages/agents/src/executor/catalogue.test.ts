import { findTools } from "@toolwright/dialogue"
import { defineTool, type ToolDefinition } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { call, calls, play, registryOf, type Steps } from "../testing/harness.ts"
import { Catalogue, declaredTokens, MOST_DECLARED, MOST_DECLARED_TOKENS } from "./catalogue.ts"

/** Tools of a large server, of which some belong to every prompt. */
const many = (count: number): ToolDefinition[] =>
  Array.from({ length: count }, (_, index) =>
    defineTool({
      name: `tool_${index}`,
      description: `Does job ${index}, about subject${index}`,
      effects: { readOnly: true },
      parameters: {
        type: "object",
        properties: { text: { type: "string", description: "What it is about" }, rare: { type: "integer" } },
        required: ["text"],
        additionalProperties: false,
      },
      ...(index < 8 ? { sets: ["essential"], brief: [] } : {}),
      execute: ({ text }) => `job ${index}: ${text}`,
    }),
  )

const rank = (tool: ToolDefinition): number | undefined => (tool.sets === undefined ? undefined : 1)

/** Fifty rounds: every fifth looks for a tool, the next calls it, the others call one that stands at the front. */
function fiftyRounds(native: boolean): Steps {
  const said = (name: string, args: Record<string, unknown>): Steps[number] =>
    native ? calls(call(name, args)) : { reply: `<tool_call>\n${JSON.stringify(call(name, args))}\n</tool_call>` }
  const rounds = Array.from({ length: 50 }, (_, round) => {
    const found = `tool_${10 + Math.floor(round / 5)}`
    const args = { text: `round ${round}` }
    if (round % 5 === 0) return said("tool_search", { query: found })
    if (round % 5 > 1) return said(`tool_${round % 8}`, args)
    return native ? said("call_tool", { name: found, arguments: args }) : said(found, args)
  })
  return [...rounds, { reply: "Done." }]
}

/**
 * Bytes at the front of a request that are as in the one before, as a part of it. What ends a JSON text is not counted.
 */
function keptOf(before: string, now: string): number {
  let at = 0
  while (at < before.length && before[at] === now[at]) at++
  return at / (before.length - 2)
}

describe.each([
  ["native", { nativeTools: true, grammar: false, jsonSchema: false }],
  ["grammar", { nativeTools: false, grammar: true, jsonSchema: false }],
  ["text", { nativeTools: false, grammar: false, jsonSchema: false }],
] as const)("of 60 tools told in %s", (delivery, abilities) => {
  test("fifty rounds with ten found tools leave what was sent as it was", async () => {
    const native = delivery === "native"
    const { events, summary, backend } = await play(fiftyRounds(native), many(60), {
      catalogue: { rank },
      maxRounds: 60,
      scripted: { abilities, modelName: "qwen2.5" },
    })
    expect(summary).toMatchObject({ outcome: "completed", failedCalls: 0, calls: 50 })
    const sent = backend.requests.map(({ tools, messages }) => JSON.stringify({ tools, messages }))
    expect(sent).toHaveLength(51)
    const kept = sent.slice(1).map((text, index) => keptOf(sent[index]!, text))
    expect(Math.min(...kept)).toBeGreaterThanOrEqual(0.99)
    expect(new Set(backend.requests.map(({ tools }) => JSON.stringify(tools))).size).toBe(1)
    expect(backend.requests[0]?.tools?.length ?? 0).toBe(native ? 10 : 0)
    // What a person reads is counted from the same list.
    const [start] = events
    const counted = start?.type === "run-start" ? start.tools : []
    if (native) expect(counted).toEqual(backend.requests[0]?.tools?.map((tool) => tool.function.name))
    else expect(counted.at(-1)).toBe("tool_search")

    const requests = events.filter((event) => event.type === "request")
    expect(requests[0]).not.toHaveProperty("prefix")
    for (const { prefix } of requests.slice(1)) expect(prefix!.kept / prefix!.of).toBeGreaterThanOrEqual(0.99)
    const found = events.flatMap((event) => (event.type === "tools-changed" ? event.added : []))
    expect(found).toEqual(Array.from({ length: 10 }, (_, index) => `tool_${10 + index}`))
    const ran = events.flatMap((event) => (event.type === "tool-start" ? [event.name] : []))
    expect(ran.filter((name) => name === "tool_12")).toHaveLength(1)
    expect(ran).not.toContain("call_tool")
    if (delivery === "grammar") {
      expect(backend.requests[0]?.grammar).not.toContain("tool_12")
      expect(backend.requests.at(-1)?.grammar).toContain("tool_12")
      expect(backend.requests.at(-1)?.grammar).not.toContain("tool_40")
    }
  })

  test("the same tools make the same front, whatever was found in another run", async () => {
    const front = async (steps: Steps) => {
      const { backend } = await play(steps, many(60), {
        catalogue: { rank },
        maxRounds: 60,
        scripted: { abilities, modelName: "qwen2.5" },
      })
      const [{ tools, messages }] = backend.requests as [(typeof backend.requests)[number]]
      return JSON.stringify({ tools, messages })
    }
    expect(await front(fiftyRounds(delivery === "native"))).toBe(await front([{ reply: "Done." }]))
  })
})

test("a tool that comes is told where the conversation stands, and one that goes too", async () => {
  const registry = registryOf(...many(60))
  const late = defineTool({
    name: "late",
    description: "Comes later",
    parameters: { type: "object" },
    execute: () => "here",
  })
  const change = defineTool({
    name: "change",
    description: "Changes the tools",
    sets: ["essential"],
    parameters: { type: "object" },
    execute: () => {
      registry.unregister("tool_50")
      registry.register(late)
    },
  })
  registry.register(change)
  const steps = [calls(call("change")), calls(call("call_tool", { name: "late", arguments: {} })), { reply: "Done." }]
  const { backend, summary, events } = await play(steps, registry, { catalogue: { rank } })
  expect(summary).toMatchObject({ outcome: "completed", failedCalls: 0 })
  const told = JSON.stringify(backend.requests[1]?.messages.at(-1))
  expect(told).toContain('\\"name\\":\\"late\\"')
  expect(told).toContain("No longer available: tool_50")
  expect(backend.requests[1]?.tools).toEqual(backend.requests[0]?.tools)
  expect(events).toContainEqual({ type: "tools-changed", added: ["late"], removed: [] })
})

test("a call of a tool that was not shown is carried out, and a call through nothing says what is missing", async () => {
  const steps = [
    calls(call("tool_40", { text: "x" })),
    calls(call("call_tool", { name: 7, arguments: {} })),
    calls(call("call_tool", { name: "tool_41", arguments: '{"text":"y"}' })),
    { reply: "Done." },
  ]
  const { backend } = await play(steps, many(60), { catalogue: { rank } })
  const last = (request: number): string => JSON.stringify(backend.requests[request]?.messages.at(-1))
  expect(last(1)).toContain("job 40: x")
  expect(last(2)).toContain("name")
  expect(last(3)).toContain("job 41: y")
})

test("what stands at the front keeps to its limits, and where all have room nothing is searched", () => {
  const declared = new Catalogue(registryOf(...many(60)), { rank }).declared(true)
  expect(declared.length).toBeLessThanOrEqual(MOST_DECLARED)
  expect(declaredTokens(declared)).toBeLessThanOrEqual(MOST_DECLARED_TOKENS + 300)
  expect(declared[0]!.parameters.properties).not.toHaveProperty("rare")
  const few = new Catalogue(registryOf(...many(5)), { rank })
  expect(few.searched).toBe(false)
  expect(few.declared(true).map(({ name }) => name)).toEqual(many(5).map(({ name }) => name))
  const narrow = new Catalogue(registryOf(...many(60)), { rank, tokens: 100 })
  expect(narrow.declared(false).length).toBeLessThan(4)
})

test("a search finds tools by name, by their words and by misspelt names, best first", () => {
  const tools = [
    defineTool({
      name: "move_file",
      description: "Moves or renames a file",
      parameters: { type: "object" },
      execute: () => "",
    }),
    defineTool({
      name: "web_search",
      description: "Searches the web",
      parameters: { type: "object" },
      execute: () => "",
    }),
    defineTool({
      name: "git_log",
      description: "The latest commits",
      parameters: { type: "object" },
      execute: () => "",
    }),
  ]
  const names = (query: string): string[] => findTools(tools, query, 5).map(({ name }) => name)
  expect(names("move_file, git_log")).toEqual(["move_file", "git_log"])
  expect(names("rename files")).toEqual(["move_file"])
  expect(names("search on the web")).toEqual(["web_search"])
  expect(names("gitlogg")).toEqual(["git_log"])
  expect(names("commit history")).toEqual(["git_log"])
  expect(names("make coffee")).toEqual([])
})

test("a tool of many actions is declared by some of them, and a search for it lets all be called", async () => {
  const actions = ["read", "write", "undo"]
  const branch = (action: string) => ({
    title: action,
    type: "object" as const,
    properties: { action: { const: action }, path: { type: "string" as const }, rare: { type: "string" as const } },
    required: ["action", "path"],
  })
  const book = defineTool({
    name: "book",
    description: "Keeps a book. ".repeat(20),
    sets: ["essential"],
    brief: ["read", "write"],
    parameters: {
      type: "object",
      properties: { action: { type: "string", enum: actions } },
      required: ["action"],
      oneOf: actions.map(branch),
    },
    execute: ({ action }) => `did ${String(action)}`,
  })
  const registry = registryOf(book)
  const short = new Catalogue(registry, { rank: () => 0, tokens: 400 })
  expect(short.searched).toBe(true)
  const parametersOf = () => short.callable.find(({ name }) => name === "book")!.parameters
  expect(parametersOf().properties).toEqual({ action: { type: "string", enum: ["read", "write"] } })
  expect(parametersOf().oneOf?.map(({ title, properties }) => [title, Object.keys(properties!)])).toEqual([
    ["read", ["action", "path"]],
    ["write", ["action", "path"]],
  ])
  short.show(["book"])
  expect(parametersOf()).toEqual(book.parameters)
  expect(short.declared(true).map(({ name }) => name)).toEqual(["book", "tool_search", "call_tool"])
})
