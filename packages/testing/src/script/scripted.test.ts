import { createScriptedBackend, infer, parseScreenplay, type Backend } from "@toolwright/backends"
import { defineTool, ToolwrightError } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { callsOf } from "../run/agent-run.ts"
import { runAgent } from "../run/run-agent.ts"
import { scripted } from "./scripted.ts"
import type { ScriptedReply } from "./reply.ts"

const weather = defineTool({
  name: "get_weather",
  description: "Weather of a city",
  effects: { readOnly: true },
  parameters: {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer", minimum: 1 } },
    required: ["city"],
    additionalProperties: false,
  },
  execute: ({ city }) => `4 °C in ${String(city)}`,
})
const oslo = { call: "get_weather", arguments: { city: "Oslo" } }
const run = (replies: readonly ScriptedReply[], options = {}) =>
  runAgent({ task: "Coat in Oslo?", backend: scripted(replies, options), tools: [weather] })

/** The message that a person sees. */
async function messageOf(work: Promise<unknown>): Promise<string> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!ToolwrightError.isInstance(thrown)) throw new Error("It did not fail.", { cause: thrown })
  return `${thrown.code}: ${thrown.message}`
}

describe("a script", () => {
  test("is played reply by reply, and shows what the model was shown", async () => {
    const model = scripted([
      oslo,
      { expect: { result: /4 °C/, tools: { exactly: ["get_weather"] } }, text: "Take a coat." },
    ])
    const { text, calls, outcome, success } = await runAgent({
      task: "Coat in Oslo?",
      backend: model,
      tools: [weather],
      systemPrompt: "Be brief.",
    })
    expect({ text, outcome, success }).toEqual({ text: "Take a coat.", outcome: "completed", success: true })
    expect(calls).toEqual([{ ...oslo, succeeded: true, output: "4 °C in Oslo", data: "4 °C in Oslo" }])
    expect(model.shown.map(({ number, user, tools }) => ({ number, user, tools }))).toEqual(
      [1, 2].map((number) => ({ number, user: "Coat in Oslo?", tools: ["get_weather"] })),
    )
    expect(model.shown[0]!.system).toContain("Be brief.")
    expect(model.shown[1]!.result).toContain("4 °C in Oslo")
    expect(model.remaining).toBe(0)
  })

  test("can be functions of what the model is shown, several calls, and repeat", async () => {
    const played = await run([
      { calls: [oslo, { call: "get_weather", arguments: { city: "Rome" } }] },
      ({ result }) => ({ call: "get_weather", arguments: { city: result.includes("Rome") ? "Paris" : "London" } }),
      { ...oslo, arguments: { city: "Bern", days: 1 } },
      "Done.",
    ])
    expect(callsOf(played).map(({ arguments: { city } }) => city)).toEqual(["Oslo", "Rome", "Paris", "Bern"])
    expect(callsOf(played.events)).toEqual(callsOf(played))
    const model = scripted([
      { text: "yes", repeat: 2 },
      { text: "no", repeat: "always" },
    ])
    const replies: string[] = []
    for (let count = 0; count < 4; count++) replies.push((await infer(model, { userPrompt: "?" })).text)
    expect(replies).toEqual(["yes", "yes", "no", "no"])
    expect(() => model.done()).not.toThrow()
  })

  test("arrives in small pieces, so that code which reads streams is tried", async () => {
    const pieces: string[] = []
    for await (const event of scripted(["Take a warm coat."]).infer({ messages: [] }))
      if (event.type === "text-delta") pieces.push(event.text)
    expect(pieces).toEqual(["Take a ", "warm co", "at."])
  })

  test("is written in the syntax of a model's family where tools are not native", async () => {
    const model = scripted([oslo, { expect: { tools: false, result: "4 °C" }, text: "Coat." }], {
      model: "qwen2.5-coder",
      nativeTools: false,
    })
    const played = await runAgent({ task: "Coat?", backend: model, tools: [weather] })
    expect(callsOf(played)).toEqual([oslo])
    expect(played.events.find(({ type }) => type === "reply")).toMatchObject({
      raw: expect.stringContaining("<tool_call>"),
    })
  })

  test("can be a screenplay, as strict as a list", async () => {
    const screenplay = await parseScreenplay(
      "steps:\n  - expect: { user: Oslo }\n    capture: { city: { from: user, matches: 'in (\\w+)' } }\n    " +
        "reply: '{{city}}?'\n  - name: never\n    reply: x",
    )
    const model = scripted(screenplay)
    expect((await infer(model, { userPrompt: "Coat in Oslo" })).text).toBe("Oslo?")
    expect(() => model.done()).toThrow("- reply 2: never")
  })
})

describe("what goes wrong is said", () => {
  test("a reply that nobody asked for", async () => {
    expect(await messageOf(run(["Coat.", oslo, { text: "Bye", name: "a farewell" }]))).toBe(
      "SCREENPLAY_UNPLAYED: 2 of 3 replies were not played; the model was asked once:\n" +
        '- reply 2: calls get_weather({"city":"Oslo"})\n- reply 3: a farewell\nIt was shown last: Coat in Oslo?\n' +
        "The run:\ntask    Coat in Oslo?\nmodel   Coat.\nend     completed: Coat.",
    )
  })

  test("a request for which there is no reply", async () => {
    expect(await messageOf(run([oslo]))).toMatch(
      /^SCREENPLAY_EXHAUSTED: The model was asked 2 times, but the script has 1 reply\. Add a reply, or.*\nIt was shown last: .*4 °C in Oslo/,
    )
  })

  test("something that the model was not shown", async () => {
    expect(await messageOf(run([oslo, { expect: { result: "21 °C" }, text: "No coat." }]))).toMatch(
      /^SCREENPLAY_ASSERTION: Reply 2 of 2 \(text "No coat\."\): expected what came back since the last reply to contain "21 °C"\.\nThere was: .*4 °C in Oslo/,
    )
  })

  test("a check of one's own, with the assertion as the cause", async () => {
    const own = new Error("5 is not 4")
    const work = run([
      {
        ...oslo,
        expect: [
          { tools: { include: ["get_weather"] } },
          () => {
            throw own
          },
        ],
      },
    ])
    expect(await messageOf(work)).toBe(
      'SCREENPLAY_ASSERTION: Reply 1 of 1 (calls get_weather({"city":"Oslo"})): 5 is not 4',
    )
    await expect(work).rejects.toMatchObject({ cause: own })
  })

  test("a call of a tool that is not offered", async () => {
    expect(await messageOf(run([{ call: "get_wether", arguments: { city: "Oslo" } }, "Coat."]))).toBe(
      'SCREENPLAY_WRONG_CALL: Reply 1 of 2 (calls get_wether({"city":"Oslo"})): the tool \'get_wether\' was ' +
        "not offered. Did you mean 'get_weather'?\n" +
        "If the model is to make this mistake, say so in its reply: wrong: true",
    )
  })

  test("a call with arguments that the schema forbids, unless it is meant to be wrong", async () => {
    const wrong = { call: "get_weather", arguments: { town: "Oslo" } }
    expect(await messageOf(run([wrong, "Coat."]))).toMatch(/has wrong arguments:\n- .*city.*\n[^]*wrong: true$/)
    const played = await run([
      { ...wrong, wrong: true },
      { expect: { success: false, result: "city" }, ...oslo },
      "Coat.",
    ])
    expect(played.calls.map(({ succeeded, error }) => [succeeded, error?.code])).toEqual([
      [false, "INVALID_ARGUMENTS"],
      [true, undefined],
    ])
  })

  test("such calls in text, too, where the tools are not in the request", async () => {
    const text = { model: "qwen2.5-coder", nativeTools: false }
    const [unknown, wrong] = [
      { call: "get_wether", arguments: { city: "Oslo" } },
      { call: "get_weather", arguments: { town: "Oslo" } },
    ]
    expect(await messageOf(run([unknown, "Coat."], text))).toMatch(
      /^SCREENPLAY_WRONG_CALL: Reply 1 of 2 \(calls get_wether.*'get_wether'[^]*wrong: true$/,
    )
    expect(await messageOf(run([wrong, "Coat."], text))).toContain("has wrong arguments:")
    const played = await run([{ ...unknown, wrong: true }, { ...wrong, wrong: true }, oslo, "Coat."], text)
    expect(played.calls.map(({ error }) => error?.code)).toEqual(["UNKNOWN_TOOL", "INVALID_ARGUMENTS", undefined])
  })

  test("the same again at every request after it, whatever the agent makes of it", async () => {
    const model = scripted([{ expect: { user: "x" }, text: "a" }, "b"])
    const asked = () => messageOf(infer(model, { userPrompt: "y" }))
    expect(await asked()).toBe(await asked())
    expect(() => model.done()).toThrow('to contain "x"')
  })
})

describe("a malformed reply is refused before anything runs", () => {
  test.each<[unknown, string]>([
    [{ cal: "x" }, "Reply 1 has the unknown key 'cal'; did you mean 'call'?"],
    [
      { text: "a", expect: { resutl: "x" } },
      "'expect' of Reply 1 has the unknown key 'resutl'; did you mean 'result'?",
    ],
    [
      { text: "a", expect: { result: { contain: "x" } } },
      "'expect.result' of Reply 1 has the unknown key 'contain'; did you mean 'contains'?",
    ],
    [{ text: "a", expect: { result: { matches: "(" } } }, "Invalid regular expression"],
    [{ arguments: {} }, "Reply 1 has 'arguments' or 'wrong', but no 'call'."],
    [{ name: "x" }, "Reply 1 says nothing"],
    [{ fail: "stal" }, "'fail' is no 'stal'"],
    [{ fail: 200 }, "HTTP 200 is no failure"],
    [{ calls: [{ name: "x" }] }, "A call of Reply 1 has the unknown key 'name'"],
    [7, "Reply 1 is a text, an object or a function, not 7."],
  ])("%j", (reply, message) => {
    expect(() => scripted([reply as ScriptedReply])).toThrow(message)
  })

  test("no list at all, and a function that gives nonsense", async () => {
    expect(() => scripted("yes" as unknown as ScriptedReply[])).toThrow("takes a list of replies")
    expect(await messageOf(run([() => ({ txt: "a" }) as ScriptedReply as string]))).toContain("unknown key 'txt'")
  })
})

describe("a model that fails", () => {
  test.each([
    [503, "MODEL_SERVER_ERROR"],
    ["unreachable", "MODEL_UNREACHABLE"],
    ["cut-off", "MODEL_BAD_REPLY"],
    [{ code: "MODEL_TIMEOUT", message: "too slow" }, "MODEL_TIMEOUT"],
  ] as const)("with %j ends the run and not the test", async (fail, code) => {
    const played = await run([oslo, { text: "I wo", fail }])
    expect([played.outcome, played.error?.code, played.calls.length]).toEqual(["failed", code, 1])
  })

  test("by a stall is given up by the test, which says what it waited for", async () => {
    const within = (timeoutMs: number) =>
      runAgent({ task: "Coat?", backend: scripted([oslo, { fail: "stall" }]), tools: [weather], timeoutMs })
    let timeoutMs = 100
    let work = within(timeoutMs)
    // On a busy machine the shortest time is over before the model stalls.
    while (!(await messageOf(work)).includes("request 2")) work = within((timeoutMs *= 4))
    expect(await messageOf(work)).toMatch(
      /^RUN_TIMEOUT: The run did not end within \d+ ms; it was waiting for the model's reply to request 2\.\ntask {4}Coat\?\ncall {4}get_weather\(\{"city":"Oslo"\}\)\nresult  get_weather: 4 °C in Oslo$/,
    )
    expect(await messageOf(work)).toContain(`within ${timeoutMs} ms`)
    await expect(work).rejects.toMatchObject({ stack: expect.stringContaining("scripted.test.ts") })
    const cancelled = await runAgent({
      task: "Coat?",
      backend: scripted([{ fail: "stall" }]),
      tools: [weather],
      signal: AbortSignal.timeout(50),
    })
    expect(cancelled.outcome).toBe("cancelled")
  })

  test("by a call that is no JSON is told so, and can correct itself", async () => {
    const played = await run([
      { call: "get_weather", arguments: '{"city": "Os' },
      { expect: ({ messages }) => expect(messages.length).toBeGreaterThan(2), ...oslo },
      "Coat.",
    ])
    expect(played.text).toBe("Coat.")
    expect(played.calls.filter(({ succeeded }) => succeeded)).toHaveLength(1)
  })
})

test("any backend can stand in its place", async () => {
  const plain: Backend = createScriptedBackend({ steps: [{ reply: "Hello." }, { reply: "unplayed" }] })
  expect((await runAgent({ task: "Hi", backend: plain, tools: [weather] })).text).toBe("Hello.")
})
