import type { ChatMessage, OpenAITool } from "@toolwright/toolformat"
import { describe, expect, test } from "vitest"
import { collectEvents, joined } from "../testing/collect-events.ts"
import { createScriptedBackend } from "./backend.ts"
import { parseScreenplay } from "./load.ts"
import type { ScreenplayStep } from "./screenplay.ts"

const ask: ChatMessage[] = [
  { role: "system", content: "You may call search." },
  { role: "user", content: "Fix add()" },
]
const tool: OpenAITool = { type: "function", function: { name: "search", description: "Finds text", parameters: {} } }

/** A conversation in which the model called once and the tool answered this. */
function answered(content: string, success = true): ChatMessage[] {
  const call = { id: "1", name: "search", arguments: {} }
  return [
    ...ask,
    { role: "assistant", content: "", toolCalls: [call] },
    { role: "tool", content, callId: "1", name: "search", success },
  ]
}

const backendOf = (steps: ScreenplayStep[]) => createScriptedBackend({ steps })
const say = (messages: ChatMessage[], step: Partial<ScreenplayStep>, request = {}) =>
  collectEvents(backendOf([{ reply: "yes", ...step }]).infer({ messages, ...request }))

describe("a screenplay", () => {
  test("takes a value out of a result and uses it in the next reply", async () => {
    const backend = createScriptedBackend(
      await parseScreenplay(`
steps:
  - expect: { user: Fix add, tools: { exactly: [search] } }
    reply: { calls: [{ name: search, arguments: { pattern: add } }] }
  - expect: { result: { contains: add.js, json: { "$.matches[0].line": 7 } }, success: true }
    capture:
      line: { json: "$.matches[0].line" }
      path: '"path":"([^"]+)"'
      hash: { from: result, matches: 'hash=(\\w+)' }
    reply:
      text: 'edit {{path}}:{{line}} if {{hash|json}}'
      calls: [{ name: edit, arguments: { line: "{{line}}", where: "at {{line}}" } }]
`),
    )
    const first = await collectEvents(backend.infer({ messages: ask, tools: [tool] }))
    expect(first).toEqual([
      { type: "call-delta", index: 0, id: "call_1_0", name: "search" },
      { type: "call-delta", index: 0, arguments: '{"pattern":"add"}' },
      { type: "end", finishReason: "tool-calls" },
    ])
    const second = await collectEvents(
      backend.infer({
        messages: answered('<result>{"matches":[{"path":"src/add.js","line":7}]}</result> hash=ab12'),
        tools: [tool],
      }),
    )
    expect(joined(second)).toBe('edit src/add.js:7 if "ab12"')
    expect(second).toContainEqual({ type: "call-delta", index: 0, arguments: '{"line":7,"where":"at 7"}' })
    expect(backend.remaining).toBe(0)
    expect(backend.requests).toHaveLength(2)
  })

  test("converts what it takes, and says so when it cannot", async () => {
    const step = (as: "number" | "json", matches: string): ScreenplayStep => ({
      capture: { value: { matches, as } },
      reply: { calls: [{ name: "f", arguments: { value: "{{value}}" } }] },
    })
    const args = async (each: ScreenplayStep) => {
      const events = await collectEvents(
        backendOf([each]).infer({ messages: answered('line 7: {"a": [1]}'), tools: [tool] }),
      )
      return events.flatMap((event) =>
        event.type === "call-delta" && event.arguments !== undefined ? [event.arguments] : [],
      )
    }
    expect(await args(step("number", "line (\\d+)"))).toEqual(['{"value":7}'])
    expect(await args(step("json", ": (.*)"))).toEqual(['{"value":{"a":[1]}}'])
    await expect(args(step("number", "line"))).rejects.toMatchObject({
      code: "SCREENPLAY_ASSERTION",
      message: expect.stringContaining("a number for 'value'"),
    })
  })

  test("fails where a model would be left without what it needs", async () => {
    const backend = backendOf([{ name: "edit", capture: { line: "add.js:(\\d+)" }, reply: "{{line}}" }])
    await expect(collectEvents(backend.infer({ messages: answered("12 matches") }))).rejects.toMatchObject({
      code: "SCREENPLAY_ASSERTION",
      message:
        "Screenplay step 1 (edit), inference 1: expected a match of /add.js:(\\d+)/ for 'line'.\nThere was: 12 matches",
    })
  })

  test.each<[string, ScreenplayStep["expect"], object?]>([
    ["text that is missing", { result: "seven" }],
    ["text that should not be there", { any: { excludes: ["nine", "matches"] } }],
    ["a pattern that does not match", { system: { matches: "^may" } }],
    ["a regular expression that does not match", { last: /^TEN/im }],
    ["one of several that does not match", { last: { matches: ["12", /^matches/g] } }],
    ["a text that differs", { last: { equals: "12" } }],
    ["another value in JSON", { result: { json: { "$.a": 1 } } }],
    ["a result that succeeded", { success: false }],
    ["another number of messages", { messages: 3 }],
    ["too few results", { results: { min: 2 } }],
    ["another set of tools", { tools: { exactly: ["search", "edit"] } }, { tools: [tool] }],
    ["a tool that is not offered", { tools: { include: ["edit"] } }, { tools: [tool] }],
    ["a tool that must not be offered", { tools: { exclude: ["search"] } }, { tools: [tool] }],
    ["tools at all", { tools: false }, { tools: [tool] }],
    ["no grammar", { grammar: true }],
    ["a grammar", { grammar: false }, { grammar: "root ::= x" }],
    ["another grammar", { grammar: "call" }, { grammar: "root ::= x" }],
    ["no JSON Schema", { jsonSchema: true }],
    ["another tool choice", { toolChoice: "required" }, { tools: [tool], toolChoice: "auto" }],
    ["the second of two expectations", [{ messages: 4 }, { messages: 5 }]],
  ])("is not content with %s", async (_, expectation, request = {}) => {
    await expect(say(answered('{"a":2} 12 matches'), { expect: expectation! }, request)).rejects.toMatchObject({
      code: "SCREENPLAY_ASSERTION",
    })
  })

  test("is content with what it expects", async () => {
    const expectation = {
      system: "You may",
      user: { matches: ["^Fix", /^fix/gi] },
      any: /\bADD\(/i,
      result: { contains: ["12", "matches"], excludes: "error", json: { a: 2 } },
      last: { equals: '{"a":2} 12 matches' },
      success: true,
      messages: { max: 4 },
      results: 1,
      tools: false,
      grammar: { matches: "^root" },
      jsonSchema: false,
    } as const
    const events = await say(
      answered('{"a":2} 12 matches'),
      { expect: expectation as ScreenplayStep["expect"] & object },
      { grammar: "root ::= x" },
    )
    expect(joined(events)).toBe("yes")
  })

  test("cuts text as told, never inside a character", async () => {
    const text = "aé😀b"
    const pieces = async (chunks: number | "char" | number[]) =>
      (await say(ask, { reply: { text, chunks } })).flatMap((event) =>
        event.type === "text-delta" ? [event.text] : [],
      )
    expect(await pieces("char")).toEqual(["a", "é", "😀", "b"])
    expect(await pieces(3)).toEqual(["aé😀", "b"])
    expect(await pieces([1, 2])).toEqual(["a", "é😀", "b"])
  })

  test("gives reasoning, usage, finish reason, and a stream in any order", async () => {
    expect(
      await say(ask, {
        reply: { reasoning: "hm", text: "ok", finish: "length", usage: { inputTokens: 3, outputTokens: 2 } },
      }),
    ).toEqual([
      { type: "reasoning-delta", text: "hm" },
      { type: "text-delta", text: "ok" },
      { type: "end", finishReason: "length", usage: { inputTokens: 3, outputTokens: 2 } },
    ])
    const stream = [
      { text: ["a", "b"] },
      { retry: 1, delayMs: 5, reason: "HTTP 503" },
      { reasoning: "c" },
      { call: 0, id: "x", name: "f", arguments: "{" },
    ]
    expect(await say(ask, { reply: { stream } })).toEqual([
      { type: "text-delta", text: "a" },
      { type: "text-delta", text: "b" },
      { type: "retry", attempt: 1, delayMs: 5, reason: "HTTP 503" },
      { type: "reasoning-delta", text: "c" },
      { type: "call-delta", index: 0, id: "x", name: "f", arguments: "{" },
      { type: "end", finishReason: "tool-calls" },
    ])
  })

  test("writes calls in the given format where no tools were offered, and says so where there is none", async () => {
    const steps: ScreenplayStep[] = [
      { reply: { text: "I search. ", calls: [{ name: "search", arguments: { pattern: "x" } }] } },
    ]
    const formatter = {
      printCalls: (calls: readonly { name: string }[]) => `[${calls.map((call) => call.name).join()}]`,
    }
    const events = await collectEvents(createScriptedBackend({ steps }, { formatter }).infer({ messages: ask }))
    expect(joined(events)).toBe("I search. [search]")
    await expect(collectEvents(backendOf(steps).infer({ messages: ask }))).rejects.toMatchObject({
      code: "SCREENPLAY_ASSERTION",
    })
  })

  test.each([
    [{ status: 401 }, "MODEL_UNAUTHORIZED"],
    [{ status: 404 }, "MODEL_NOT_FOUND"],
    [{ status: 400, message: "no" }, "MODEL_REQUEST_REJECTED"],
    [{ status: 503 }, "MODEL_SERVER_ERROR"],
    [{ kind: "unreachable" as const }, "MODEL_UNREACHABLE"],
    [{ kind: "timeout" as const }, "MODEL_TIMEOUT"],
    [{ kind: "invalid-utf8" as const }, "MODEL_BAD_REPLY"],
    [{ code: "SOMETHING" }, "SOMETHING"],
  ])("fails as %j after what it said", async (error, code) => {
    const seen: string[] = []
    const run = async () => {
      for await (const event of backendOf([{ reply: { text: "half", error } }]).infer({ messages: ask })) {
        if (event.type === "text-delta") seen.push(event.text)
      }
    }
    await expect(run()).rejects.toMatchObject({ code })
    expect(seen).toEqual(["half"])
  })

  test("hangs until it is cancelled", async () => {
    const controller = new AbortController()
    const reason = new Error("enough")
    const backend = backendOf([{ reply: { text: "a", hang: true } }])
    const run = collectEvents(backend.infer({ messages: ask }, { signal: controller.signal }))
    setTimeout(() => controller.abort(reason), 5)
    await expect(run).rejects.toBe(reason)
  })

  test("repeats a step, for ever if told to, and otherwise ends with the last", async () => {
    const backend = backendOf([{ reply: "a", repeat: 2 }, { reply: "b" }])
    const replies: string[] = []
    for (let count = 0; count < 3; count++) replies.push(joined(await collectEvents(backend.infer({ messages: ask }))))
    expect(replies).toEqual(["a", "a", "b"])
    await expect(collectEvents(backend.infer({ messages: ask }))).rejects.toMatchObject({
      code: "SCREENPLAY_EXHAUSTED",
    })
    const endless = backendOf([{ reply: "a", repeat: "always" }])
    for (let count = 0; count < 30; count++) await collectEvents(endless.infer({ messages: ask }))
    expect(endless.remaining).toBe(0)
  })

  test("refuses two constraints in one request", async () => {
    await expect(say(ask, {}, { tools: [tool], grammar: "root ::= x" })).rejects.toMatchObject({
      code: "CONFLICTING_CONSTRAINTS",
    })
  })
})
