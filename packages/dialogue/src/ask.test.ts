import { createScriptedBackend, type Backend, type InferEvent, type InferRequest } from "@toolwright/backends"
import { defineTool, success, type ToolDefinition } from "@toolwright/toolbox"
import { formatterById, formatterOf, listFormats } from "@toolwright/toolformat"
import { describe, expect, test } from "vitest"
import { Asking, openDialogue, type AskEvent, type DialogueOptions } from "./ask.ts"
import { wholeContext } from "./context/manager.ts"
import { Conversation } from "./conversation.ts"
import type { Reply } from "./reply/reply.ts"

const look: ToolDefinition = defineTool({
  name: "look",
  description: "Looks",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  execute: () => success({ output: "seen" }),
})
const call = { id: "call_1", name: "look", arguments: { text: "here" } }
const inText = listFormats().filter((format) => format.apiOnly === undefined)

/** A backend that says these pieces, and what it was asked. */
function saying(events: readonly (InferEvent | string)[], native = false) {
  const requests: InferRequest[] = []
  let left = false
  let told = 0
  const backend: Backend = {
    kind: "said",
    abilities: { nativeTools: native, grammar: false, jsonSchema: false },
    modelName: () => "some-model",
    async *infer(request) {
      requests.push(request)
      try {
        for (const event of events) {
          told++
          yield typeof event === "string" ? { type: "text-delta", text: event } : event
        }
        yield { type: "end", finishReason: "stop" }
      } finally {
        left = true
      }
    },
  }
  return { backend, requests, left: () => left, told: () => told }
}

/** One question, and the conversation as the model is shown it next. */
async function converse(options: Omit<DialogueOptions, "tools" | "said" | "messages">) {
  const tools = [look]
  const dialogue = openDialogue({ ...options, tools, said: ["Look"], messages: [] })
  const conversation = new Conversation({ system: "Be brief.", task: "Look", results: { keep: () => {} } })
  const asking = new Asking(dialogue, {
    tools,
    messages: (plan) => conversation.writtenFor(plan, wholeContext, 0),
    said: () => conversation.said,
    callsBefore: 0,
    nameCall: (given) => given || "call_1",
  })
  const events: AskEvent[] = []
  let reply: Reply | undefined
  while (reply === undefined) {
    const step = await asking.next()
    if (step.done) reply = step.reply
    else events.push(...step.events)
  }
  conversation.addReply(reply)
  const results = reply.calls.map((made) => ({ call: made, result: success({ output: "seen" }) }))
  conversation.addResults(results, () => look)
  return { reply, events, shown: JSON.stringify(conversation.writtenFor(dialogue.plan, wholeContext, 0)) }
}

/** A reply in pieces of one character, so that nothing rests on how it is cut. */
const letters = (text: string): string[] => [...text]

describe.each(inText.map((format) => [format.id, formatterOf(format)] as const))("in the format %s", (_, formatter) => {
  const written = formatter.printCalls([call], [look])

  test("a result that a model makes up after its call is neither said nor history, and the record has it", async () => {
    const madeUp = `\n<tool_response>\nINVENTED 42\n</tool_response>\nINVENTED: so it is 42.`
    const { backend } = saying(letters(`Let me look.\n${written}${madeUp}`))
    const { reply, events, shown } = await converse({ backend, formatter })
    expect(reply.calls).toMatchObject([{ name: "look", arguments: call.arguments }])
    expect(reply.content).not.toContain("INVENTED")
    expect(JSON.stringify(events.filter(({ type }) => type === "text-delta"))).not.toContain("INVENTED")
    expect(shown).not.toContain("INVENTED")
    expect(shown).toContain("Let me look.")
    expect(shown).toContain("here")
    const cut = formatter.stop.some((stop) => madeUp.includes(stop) || written.includes(stop))
    const problems = events.filter((event) => event.type === "parse-problem")
    if (!cut) expect(problems).toMatchObject([{ kind: "extra-text", repaired: true }])
  })

  test("reasoning does not come back to the model, with a call and without", async () => {
    for (const rest of [written, "It is there."]) {
      const { backend } = saying(letters(`<think>\nSECRET PLAN\n</think>\n\n${rest}`))
      const { shown } = await converse({ backend, formatter })
      expect(shown).not.toContain("SECRET")
      expect(shown).not.toContain("think>")
    }
  })

  test("its stop sequences end the reply and the request, whether or not the server minds them", async () => {
    for (const stop of formatter.stop.filter((each) => !written.includes(each) || written.trimEnd().endsWith(each))) {
      const model = saying(["It is ", `there.${stop}`, "\nUser: INVENTED", ...letters("and on and on")])
      const { reply, shown } = await converse({ backend: model.backend, formatter })
      expect(reply).toMatchObject({ content: "It is there.", finishReason: "stop", calls: [] })
      expect(shown).not.toContain("INVENTED")
      expect(model.left()).toBe(true)
      expect(model.told()).toBeLessThan(4)
    }
  })
})

test("a stop sequence of the caller's is kept to natively too", async () => {
  const model = saying(["one END", " two"], true)
  const { reply } = await converse({ backend: model.backend, sampling: { stop: ["END"] } })
  expect(reply.content.trim()).toBe("one")
  expect(model.requests[0]?.sampling?.stop).toEqual(["END"])
})

describe("with structured tool calling over a server's own tool use, a reply that is a call in text is", () => {
  const texts = [
    ...inText.map((format) => formatterOf(format).printCalls([call], [look])),
    JSON.stringify({ tool: "look", args: call.arguments }),
  ]

  test.each([...new Set(texts)])("a call or a problem, and never the answer: %j", async (text) => {
    for (const modelName of ["qwen2.5", "claude-sonnet", "some-model", "llama-3.1"]) {
      const { backend } = saying(letters(text), true)
      const named = { ...backend, modelName: () => modelName }
      const { reply } = await converse({ backend: named, mode: "structured" })
      const unread = reply.problems.filter(({ repaired }) => !repaired)
      expect(reply.calls.length + unread.length, modelName).toBeGreaterThan(0)
      expect(reply.content, modelName).not.toContain("here")
    }
  })

  test("words, where it is words", async () => {
    const { backend } = saying(['The tool is called {"look"}, and ', "2 < 3."], true)
    const { reply } = await converse({ backend, mode: "structured" })
    expect(reply).toMatchObject({ content: 'The tool is called {"look"}, and 2 < 3.', calls: [], problems: [] })
  })
})

test("what could not be read as a call comes back to the model as it wrote it", async () => {
  const broken = '<tool_call>\n{"name": "look", "arguments": {"text": \n</tool_call>'
  const { backend } = saying([broken])
  const { reply, shown } = await converse({ backend, formatter: formatterById("hermes") })
  expect(reply.problems.length).toBeGreaterThan(0)
  expect(shown).toContain('\\"name\\": \\"look\\"')
})

test("where a server refuses its own tool use, what was said before is written in the new form", async () => {
  const backend = createScriptedBackend(
    { steps: [{ reply: { error: { status: 400, message: "this model does not support tools" } } }, { reply: "ok" }] },
    { modelName: "qwen2.5", abilities: { nativeTools: true, grammar: false, jsonSchema: false } },
  )
  const history = [
    { role: "user", content: "Look" },
    { role: "assistant", content: "", toolCalls: [call] },
    { role: "tool", content: "seen", callId: "call_1", name: "look", success: true },
  ] as const
  const tools = [look]
  const dialogue = openDialogue({ backend, tools, said: [], messages: [] })
  const conversation = new Conversation({ system: "", task: "Again", history, results: { keep: () => {} } })
  const asking = new Asking(dialogue, {
    tools,
    messages: (plan) => conversation.writtenFor(plan, wholeContext, 0),
    said: () => [],
    callsBefore: 0,
    nameCall: (given) => given,
  })
  while (!(await asking.next()).done) continue
  const [refused, taken] = backend.requests
  expect(refused?.messages.map(({ role }) => role)).toContain("tool")
  expect(taken?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"])
  expect(JSON.stringify(taken?.messages)).toContain("<tool_call>")
})

test("a reply without end is given up, by its text and by its calls", async () => {
  async function* forever(event: (index: number) => InferEvent): AsyncGenerator<InferEvent> {
    for (let index = 0; ; index++) yield event(index)
  }
  for (const event of [
    (): InferEvent => ({ type: "reasoning-delta", text: "x".repeat(100_000) }),
    (index: number): InferEvent => ({ type: "call-delta", index, id: `c${index}`, name: "look", arguments: "{}" }),
    (index: number): InferEvent => ({
      type: "call-delta",
      index: 0,
      id: "c",
      name: "look",
      arguments: `${index}`.repeat(9000),
    }),
  ]) {
    const { backend } = saying([], true)
    const endless = { ...backend, infer: () => forever(event) }
    await expect(converse({ backend: endless })).rejects.toMatchObject({ code: "REPLY_TOO_LONG" })
  }
})
