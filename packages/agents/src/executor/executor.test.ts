import { createScriptedBackend } from "@toolwright/backends"
import { Grammars } from "@toolwright/dialogue"
import { matchesGbnf } from "@toolwright/logits"
import { defineTool, type RunEvent } from "@toolwright/toolbox"
import { describe, expect, test, vi } from "vitest"
import { call, calls, echo, play, registryOf } from "../testing/harness.ts"
import { DynamicExecutor } from "./executor.ts"

const types = (events: RunEvent[]) => events.map(({ type }) => type)
const contentOf = (message: unknown) => (message as { content: string }).content

describe("a run", () => {
  test("goes through rounds until the model answers, in one order of events", async () => {
    const { events, summary, backend } = await play(
      [calls(call("look", { text: "a" })), { reply: "It is a." }],
      [echo("look")],
    )
    expect(types(events)).toEqual([
      "run-start",
      "round-start",
      "request",
      "call-start",
      "args-delta",
      "call-end",
      "reply",
      "tool-start",
      "tool-end",
      "round-end",
      "round-start",
      "request",
      "text-delta",
      "reply",
      "round-end",
      "run-end",
    ])
    expect(summary).toMatchObject({ outcome: "completed", success: true, message: "It is a.", rounds: 2, calls: 1 })
    expect(backend.requests[1]?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool"])
  })

  test("offers tools natively with the choice left to the model, or describes them in the prompt", async () => {
    const native = await play([{ reply: "done" }], [echo("look")])
    expect(native.backend.requests[0]).toMatchObject({ toolChoice: "auto", tools: [{ function: { name: "look" } }] })
    expect(native.events[0]).toMatchObject({ because: "tool use of its server, backend scripted" })
    const text = await play([{ reply: "done" }], [echo("look")], {
      scripted: { modelName: "qwen2.5", abilities: { nativeTools: false } },
    })
    expect(text.backend.requests[0]?.tools).toBeUndefined()
    expect(contentOf(text.backend.requests[0]?.messages[0])).toMatch(/# Tools[\s\S]*look[\s\S]*<tool_call>/)
    expect(text.events[0]).toMatchObject({
      format: expect.stringMatching(/qwen|hermes/),
      because: "the model is named 'qwen2.5'",
    })
  })

  test("keeps the order of the calls, and a failing one keeps no other from running", async () => {
    const slow = defineTool({
      name: "slow",
      description: "",
      parameters: { type: "object" },
      effects: { readOnly: true },
      execute: () => new Promise((resolve) => setTimeout(resolve, 15, "slow")),
    })
    const broken = defineTool({
      name: "broken",
      description: "",
      parameters: { type: "object" },
      execute: () => {
        throw new Error("no")
      },
    })
    const { backend } = await play(
      [calls(call("slow"), call("broken"), call("gone"), call("look")), { reply: "done" }],
      [slow, broken, echo("look")],
    )
    const results = backend.requests[1]!.messages.filter(({ role }) => role === "tool") as {
      name: string
      success: boolean
    }[]
    expect(results.map(({ name, success }) => [name, success])).toEqual([
      ["slow", true],
      ["broken", false],
      ["gone", false],
      ["look", true],
    ])
  })

  test("reading calls run beside each other, others wait for their turn", async () => {
    let running = 0
    let most = 0
    const make = (name: string, readOnly: boolean) =>
      defineTool({
        name,
        description: "",
        parameters: { type: "object" },
        effects: { readOnly },
        execute: async () => {
          most = Math.max(most, ++running)
          if (readOnly) await vi.waitFor(() => expect(most).toBe(3))
          else await new Promise((resolve) => setTimeout(resolve, 5))
          running--
        },
      })
    await play([calls(call("read"), call("read"), call("read")), { reply: "x" }], [make("read", true)])
    expect(most).toBe(3)
    most = 0
    await play([calls(call("write"), call("write")), { reply: "x" }], [make("write", false)])
    expect(most).toBe(1)
  })

  test("ends after twenty inferences when the model never does", async () => {
    const look = defineTool({
      name: "look",
      description: "",
      parameters: { type: "object" },
      execute: () => Math.random(),
    })
    const { summary, backend, events } = await play([{ reply: { calls: [call("look")] }, repeat: "always" }], [look])
    expect(summary).toMatchObject({ outcome: "max-rounds", success: false, message: "max rounds reached", rounds: 20 })
    expect(backend.requests).toHaveLength(20)
    expect(events.at(-1)).toMatchObject({ error: { code: "MAX_ROUNDS" } })
  })

  test("ends with the backend's own error", async () => {
    const { summary, events } = await play([{ reply: { error: { status: 401 } } }], [echo("look")])
    expect(summary).toMatchObject({ outcome: "failed", success: false })
    expect(events.at(-1)).toMatchObject({ error: { code: "MODEL_UNAUTHORIZED" } })
  })

  test("fails at once when it has no tools", async () => {
    const { summary, backend, events } = await play([{ reply: "never" }], [])
    expect(summary.outcome).toBe("failed")
    expect(events.at(-1)).toMatchObject({ error: { code: "NO_TOOLS" } })
    expect(backend.requests).toHaveLength(0)
  })
})

describe("a reply without a call", () => {
  test("is not answered where the model hears no nudge", async () => {
    const { events, summary } = await play(
      [{ reply: '<tool_call>\n{"name": "look", "arguments": {"text": "a/a/a' }],
      [echo("look")],
      { scripted: { modelName: "qwen2.5", abilities: { nativeTools: false } }, nudges: 0 },
    )
    expect(events.filter(({ type }) => type === "nudge")).toHaveLength(0)
    expect(summary).toMatchObject({ outcome: "no-tool-use", rounds: 1 })
  })

  test("is answered with a nudge, and after three in a row the run gives up", async () => {
    const { summary, events, backend } = await play([{ reply: "I could do it.", repeat: "always" }], [echo("look")], {
      completion: { signal: "TASK_COMPLETE", requireToolUse: true },
    })
    expect(events.filter(({ type }) => type === "nudge")).toHaveLength(3)
    expect(contentOf(backend.requests[1]?.messages.at(-1))).toBe("Please use tools to complete the task.")
    expect(summary).toMatchObject({
      outcome: "no-tool-use",
      success: false,
      message: "LLM did not use tools as expected",
    })
  })

  test("ends a run whose model did call tools with what is missing, and with what failed", async () => {
    const broken = defineTool({
      name: "broken",
      description: "",
      parameters: { type: "object" },
      execute: () => {
        throw new Error("the hook wants a number")
      },
    })
    const { summary } = await play(
      [calls(call("look")), calls(call("broken")), { reply: "All of it is done.", repeat: "always" }],
      [echo("look"), broken],
      { completion: { signal: "TASK_COMPLETE", requireChange: true } },
    )
    expect(summary.message).toMatch(/^not completed: /)
    expect(summary).toMatchObject({
      outcome: "nothing-done",
      failedCalls: 1,
      correctedFailures: 0,
      notes: [{ message: expect.stringContaining("the hook wants a number") as string }],
    })
  })

  test("of a model that did call tools is answered with what is missing, and with what failed", async () => {
    const commit = defineTool({
      name: "hand_in",
      description: "",
      parameters: { type: "object" },
      role: "commits",
      execute: () => {
        throw new Error("the hook wants a number\nand more")
      },
    })
    const completion = { signal: "TASK_COMPLETE", requireCommit: true }
    const { backend, summary } = await play(
      [calls(call("hand_in")), { reply: "It is committed.", repeat: "always" }],
      [echo("look"), commit],
      { completion },
    )
    expect(contentOf(backend.requests[2]?.messages.at(-1))).toBe(
      "Please use tools to complete the task.\n\nWhat is missing:\n- nothing has been committed yet\n" +
        "- 'hand_in' failed and was not put right: The tool 'hand_in' failed: the hook wants a number",
    )
    expect(summary.message).toBe("not completed: nothing has been committed yet")

    const done = await play(
      [calls(call("look")), { reply: "That is all." }, { reply: "TASK_COMPLETE" }],
      [echo("look")],
      { completion: { signal: "TASK_COMPLETE", requireToolUse: true } },
    )
    expect(contentOf(done.backend.requests[2]?.messages.at(-1))).toBe(
      "Please use tools to complete the task. If all of it is done, say so with TASK_COMPLETE.",
    )
    expect(done.summary).toMatchObject({ success: true })
  })

  test("that holds only reasoning is told so, and reasoning is never sent back", async () => {
    const { events, backend } = await play(
      [{ reply: { reasoning: "Hm, let me think." } }, { reply: "done" }],
      [echo("look")],
    )
    expect(events).toContainEqual(expect.objectContaining({ type: "nudge", reason: "only-reasoning" }))
    expect(JSON.stringify(backend.requests[1]?.messages)).not.toContain("let me think")
  })

  test.each([
    { delivery: "native", nativeTools: true, thought: { reasoning: "Hm. ".repeat(500), text: "It is done." } },
    { delivery: "text", nativeTools: false, thought: `<think>${"Hm. ".repeat(500)}</think>It is done.` },
  ])("that reasons longer than it may is stopped, over $delivery delivery", async ({ nativeTools, thought }) => {
    const { events, backend, summary } = await play(
      [{ reply: { ...(typeof thought === "string" ? { text: thought } : thought), chunks: 10 } }, { reply: "done" }],
      [echo("look")],
      { scripted: { modelName: "qwen3", abilities: { nativeTools } }, reasoningTokens: 100 },
    )
    expect(events).toContainEqual(expect.objectContaining({ type: "nudge", reason: "only-reasoning" }))
    const reasoned = events.flatMap((event) => (event.type === "reasoning-delta" ? event.text : []))
    expect(reasoned.join("").length).toBeLessThan(600)
    expect(backend.requests).toHaveLength(2)
    expect(summary.message).toBe("done")
  })

  test("whose call could not be read learns why", async () => {
    const { events, backend } = await play(
      [{ reply: '<tool_call>\n{"name": "look", "arguments": {"text": \n</tool_call>' }, { reply: "done" }],
      [echo("look")],
      { scripted: { modelName: "qwen2.5", abilities: { nativeTools: false } } },
    )
    expect(types(events)).toContain("parse-problem")
    expect(contentOf(backend.requests[1]?.messages.at(-1))).toContain("looked like a tool call but could not be read")
  })
})

describe("results", () => {
  const long = defineTool({
    name: "long",
    description: "",
    parameters: { type: "object" },
    effects: { readOnly: true },
    execute: () => "line\n".repeat(1000),
  })

  test("are cut for the model at a line's end, and the rest can be read", async () => {
    const { backend } = await play(
      [
        calls(call("long")),
        {
          expect: { tools: { include: ["read_result"] } },
          ...calls(call("read_result", { call_id: "call_1_0", offset: 995, limit: 10 })),
        },
        { reply: "done" },
      ],
      [long],
    )
    const [first, second] = backend.requests
      .slice(1)
      .map(({ messages }) => contentOf(messages.findLast(({ role }) => role === "tool")))
    expect(first!.length).toBeLessThan(1300)
    expect(first).toContain('call read_result with {"call_id":"call_1_0","offset":999}')
    expect(second).toBe("line\nline\n\n[3995 characters follow; go on with offset 1005.]")
    expect(backend.requests[0]?.tools).toHaveLength(1)
  })
})

describe("tools that come and go", () => {
  test("change what the next round offers; a late call learns that its tool is gone", async () => {
    const registry = registryOf(echo("search"), echo("file"))
    const change = defineTool({
      name: "change",
      description: "",
      parameters: { type: "object" },
      execute: () => {
        registry.unregister("search")
        registry.register(echo("word_count"))
      },
    })
    registry.register(change)
    const { events, backend } = await play([calls(call("change")), calls(call("search")), { reply: "done" }], registry)
    const offered = backend.requests.map(({ tools }) => tools?.map((tool) => tool.function.name))
    expect(offered[0]).toEqual(["search", "file", "change"])
    expect(offered[1]).toEqual(["file", "change", "word_count"])
    expect(events).toContainEqual({ type: "tools-changed", added: ["word_count"], removed: ["search"] })
    expect(contentOf(backend.requests[2]?.messages.at(-1))).toContain("The tool 'search' is no longer available.")
  })
})

describe("cancelling", () => {
  test("ends a model request that hangs", async () => {
    const controller = new AbortController()
    const running = play([{ reply: { text: "a", hang: true } }], [echo("look")], {
      request: { signal: controller.signal },
    })
    setTimeout(() => controller.abort(), 10)
    expect((await running).summary).toMatchObject({ outcome: "cancelled", success: false })
  })

  test("reaches a running tool", async () => {
    const controller = new AbortController()
    let stopped = false
    const hanging = defineTool({
      name: "hang",
      description: "",
      parameters: { type: "object" },
      execute: (_args, { signal }) => {
        setTimeout(() => controller.abort(), 20)
        return new Promise(() => signal.addEventListener("abort", () => (stopped = true)))
      },
    })
    const running = play([calls(call("hang"))], [hanging], { request: { signal: controller.signal } })
    expect((await running).summary.outcome).toBe("cancelled")
    expect(stopped).toBe(true)
  })

  test("by leaving the loop stops the request too", async () => {
    const backend = createScriptedBackend({ steps: [{ reply: { text: "a", hang: true } }] })
    let signal: AbortSignal | undefined
    const spied = {
      ...backend,
      infer: (request: Parameters<typeof backend.infer>[0], options?: { signal?: AbortSignal }) => {
        signal = options?.signal
        return backend.infer(request, options)
      },
    }
    for await (const event of new DynamicExecutor({ tools: registryOf(echo("look")), backend: spied }).run({
      task: "x",
    })) {
      if (event.type === "text-delta") break
    }
    await vi.waitFor(() => expect(signal?.aborted).toBe(true))
  })
})

test("a repeated call with the same result is pointed out, then stopped", async () => {
  const { events, summary } = await play([{ reply: { calls: [call("look")] }, repeat: "always" }], [echo("look")])
  expect(
    events.filter(({ type }) => type === "loop-detected").map((event) => (event as { times: number }).times),
  ).toEqual([3, 4, 5, 6])
  expect(summary).toMatchObject({ outcome: "stuck", rounds: 6 })
})

test("artifacts guide what can come next", async () => {
  const outline = echo("outline", { produces: ["outline"] })
  const publish = echo("publish", { consumes: ["outline", "content"] })
  const { backend } = await play([calls(call("outline")), { reply: "done" }], [outline, publish])
  expect(contentOf(backend.requests[1]?.messages.at(-1))).toBe(
    "Artifacts so far: outline.\npublish still needs: content.",
  )
})

test("a server that refuses its own tool use gets the tools as text, once, and the record says so", async () => {
  const { events, backend, summary } = await play(
    [
      { reply: { error: { status: 400, message: "this model does not support tools" } } },
      {
        expect: { tools: false, system: "<tool_call>" },
        reply: '<tool_call>\n{"name": "look", "arguments": {"text": "a"}}\n</tool_call>',
      },
      { expect: { tools: false, result: "a" }, reply: "done" },
    ],
    [echo("look")],
    { scripted: { modelName: "qwen2.5" } },
  )
  expect(events).toContainEqual(expect.objectContaining({ type: "delivery-fallback", from: "native", to: "text" }))
  expect(summary).toMatchObject({ success: true, rounds: 2, calls: 1 })
  expect(backend.requests).toHaveLength(3)
})

test("a failure that has nothing to do with tools is not tried in another way", async () => {
  const { backend, summary } = await play([{ reply: { error: { status: 401 } } }, { reply: "done" }], [echo("look")])
  expect(summary.outcome).toBe("failed")
  expect(backend.requests).toHaveLength(1)
})

describe("a server that takes grammars", () => {
  const grammarOnly = { modelName: "qwen2.5", abilities: { nativeTools: false, grammar: true } }
  const say = (name: string) => ({ reply: `<tool_call>\n{"name": "${name}", "arguments": {}}\n</tool_call>` })

  test("gets one of the family's own syntax, made of the tools that are offered in that round", async () => {
    const registry = registryOf(echo("search"), echo("file"))
    registry.register(
      defineTool({
        name: "swap",
        description: "",
        parameters: { type: "object" },
        execute: () => {
          registry.unregister("search")
          registry.register(echo("word_count"))
        },
      }),
    )
    const { backend, events } = await play(
      [say("swap"), { ...say("file"), expect: { grammar: true, tools: false } }, { reply: "done" }],
      registry,
      { scripted: grammarOnly },
    )
    const [before, after] = backend.requests.map(({ grammar }) => grammar ?? "")
    expect(before).toMatch(/root ::=[\s\S]*<tool_call>/)
    expect([before!.includes("search"), before!.includes("word_count")]).toEqual([true, false])
    expect([after!.includes("search"), after!.includes("word_count")]).toEqual([false, true])
    expect(events).toContainEqual(expect.objectContaining({ type: "request", delivery: "grammar", grammar: before }))
  })

  const picky = defineTool({
    name: "picky",
    description: "",
    parameters: {
      type: "object",
      properties: { text: { allOf: [{ type: "string" }, { type: "integer" }] } },
      required: ["text"],
    },
    execute: () => "ran",
  })

  test("gets one for the other tools where the schema of one is refused, which is told once", async () => {
    const { backend, events, summary } = await play(
      [say("look"), say("look"), { reply: "done" }],
      [echo("look"), picky],
      {
        scripted: grammarOnly,
      },
    )
    const grammars = backend.requests.map(({ grammar }) => grammar ?? "")
    expect(matchesGbnf(grammars[0]!, say("picky").reply)).toBe(true)
    expect(matchesGbnf(grammars[0]!, say("other").reply)).toBe(false)
    expect(summary.success).toBe(true)
    const told = events.filter(({ type }) => type === "grammar-refused")
    expect(told).toEqual([expect.objectContaining({ tool: "picky", reason: expect.stringContaining("No value") })])
  })

  test("and starts only where a mark is written gets the calls alone, with their marks", async () => {
    const lazy = { ...grammarOnly, abilities: { ...grammarOnly.abilities, lazyGrammar: true } }
    const { backend } = await play([say("look"), { reply: "done" }], [echo("look")], { scripted: lazy })
    const { grammar = "", grammarTriggers } = backend.requests[0]!
    expect(grammarTriggers).toEqual(["<tool_call>"])
    expect(matchesGbnf(grammar, say("look").reply)).toBe(true)
    expect(matchesGbnf(grammar, "Just text.")).toBe(false)
  })

  test("is given the same text in every run while the tools are the same", async () => {
    const grammars = new Grammars()
    const made = vi.spyOn(grammars, "of")
    const texts: unknown[] = []
    for (let run = 0; run < 2; run++) {
      const { backend } = await play([{ reply: "done" }], [echo("look")], { scripted: grammarOnly, grammars })
      texts.push(backend.requests[0]!.grammar, made.mock.results.at(-1)!.value)
    }
    expect(texts.slice(0, 2)).toEqual(texts.slice(2))
    expect(texts[1]).toBe(texts[3])
  })

  test("that breaks on one gets the same syntax without it, once", async () => {
    const { backend, events, summary } = await play(
      [
        { reply: { error: { status: 400, message: "failed to parse grammar" } } },
        { ...say("look"), expect: { grammar: false } },
        { reply: "done", expect: { grammar: false } },
      ],
      [echo("look")],
      { scripted: grammarOnly },
    )
    expect(events).toContainEqual(expect.objectContaining({ type: "delivery-fallback", from: "grammar", to: "text" }))
    expect([summary.success, backend.requests.length]).toEqual([true, 3])
  })
})

test("a call that breaks off at the token limit is no call without arguments", async () => {
  const stream = [{ call: 0, id: "a", name: "look" }]
  const { events, summary } = await play([{ reply: { stream, finish: "length" } }, { reply: "done" }], [echo("look")])
  expect(types(events)).toContain("parse-problem")
  expect(summary.calls).toBe(0)
})

test("time spent on a model that fails is the model's, not the run's own", async () => {
  const { summary } = await play([{ reply: { delayMs: 60, error: { code: "BROKEN", message: "no" } } }], [echo("look")])
  expect(summary.outcome).toBe("failed")
  expect(summary.times.modelMs).toBeGreaterThan(50)
  expect(summary.times.overheadMs).toBeLessThan(summary.times.totalMs - 50)
})

test("a cycle of calls is a loop too; one that makes progress is none", async () => {
  const cycle = [
    { reply: { calls: [call("look", { text: "a" }), call("look", { text: "b" })] }, repeat: "always" as const },
  ]
  const { events, summary } = await play(cycle, [echo("look")])
  expect(summary).toMatchObject({ outcome: "stuck", rounds: 6 })
  expect(events.find(({ type }) => type === "loop-detected")).toMatchObject({
    text: expect.stringContaining("the same 2 calls in a row 3 times"),
  })
  let count = 0
  const step = defineTool({ name: "step", description: "", parameters: { type: "object" }, execute: () => ++count })
  expect(
    (await play([{ reply: { calls: [call("step")] }, repeat: 8 }, { reply: "done" }], [step])).summary.success,
  ).toBe(true)
})

test("a reply without end is cut off, and the run says so", async () => {
  const backend = {
    kind: "endless",
    abilities: { nativeTools: true, grammar: false, jsonSchema: false },
    modelName: () => "endless",
    async *infer() {
      while (true) yield { type: "text-delta" as const, text: "x".repeat(100_000) }
    },
  }
  const summary = await new DynamicExecutor({ tools: registryOf(echo("look")), backend }).complete({ task: "x" })
  expect(summary).toMatchObject({ outcome: "failed", message: expect.stringContaining("longer than") })
})
