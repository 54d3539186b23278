import { readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Backend, InferRequest } from "../model/backend.ts"
import { createScriptedBackend } from "../scripted/backend.ts"
import { loadScreenplay, parseScreenplay } from "../scripted/load.ts"
import type { ScreenplayStep } from "../scripted/screenplay.ts"
import { collectEvents } from "../testing/collect-events.ts"
import { recordBackend } from "./record.ts"

const steps: ScreenplayStep[] = [
  {
    reply: {
      reasoning: "I look, {{first}}",
      text: 'Grüße 😀\n  two: lines # "quoted"',
      chunks: 3,
      usage: { inputTokens: 4, outputTokens: 9 },
      interpolate: false,
    },
  },
  {
    reply: {
      text: "now",
      calls: [
        { name: "search", arguments: '{"pattern": "x"' },
        { name: "search", arguments: { n: 1 } },
      ],
    },
  },
  { reply: { stream: [{ retry: 1, delayMs: 1, reason: "HTTP 503" }, { text: "late" }] } },
  { reply: { text: "half", error: { status: 503, message: "busy" } } },
  { reply: { finish: "length" } },
]
const tool = { type: "function", function: { name: "search", description: "Finds text", parameters: {} } } as const
const requests: InferRequest[] = steps.map((_, index) => ({
  messages: [{ role: "user", content: `${index}` }],
  tools: [tool],
}))

/** Everything that comes out of a backend, failures included. */
async function play(backend: Backend): Promise<unknown[]> {
  const seen: unknown[] = []
  for (const request of requests) {
    try {
      for await (const event of backend.infer(request)) seen.push(event)
    } catch (error) {
      const { code, message, hint } = error as { code: string; message: string; hint?: string }
      seen.push({ code, message, hint })
    }
  }
  return seen
}

test("a recorded run, saved as YAML, replays event by event", async () => {
  const recorder = recordBackend(createScriptedBackend({ model: "qwen2.5", steps }), { name: "a run" })
  const original = await play(recorder)
  const file = join(tmpdir(), `toolwright-recording-${process.pid}.yaml`)
  try {
    await writeFile(file, await recorder.toYaml())
    expect(await readFile(file, "utf8")).toContain("name: a run")
    const replayed = createScriptedBackend(await loadScreenplay(file))
    expect(replayed.modelName()).toBe("qwen2.5")
    expect(await play(replayed)).toEqual(original)
    expect(replayed.remaining).toBe(0)
  } finally {
    await rm(file, { force: true })
  }
})

test("a replay notices that it is asked something else", async () => {
  const recorder = recordBackend(createScriptedBackend({ steps: [{ reply: "a" }] }))
  await collectEvents(recorder.infer(requests[0]!))
  const ask = (request: InferRequest, options?: { expectations: boolean }) =>
    collectEvents(
      createScriptedBackend(options === undefined ? recorder.screenplay() : lenient.screenplay()).infer(request),
    )
  const lenient = recordBackend(createScriptedBackend({ steps: [{ reply: "a" }] }), { expectations: false })
  await collectEvents(lenient.infer(requests[0]!))
  const other: InferRequest = { messages: requests[0]!.messages }
  await expect(ask(other)).rejects.toMatchObject({ code: "SCREENPLAY_ASSERTION" })
  await expect(ask(other, { expectations: false })).resolves.toHaveLength(2)
})

test("what was asked can be kept with each step, and is not looked at when it is played", async () => {
  const recorder = recordBackend(createScriptedBackend({ steps: [{ reply: "a" }] }), {
    expectations: false,
    sent: ({ messages }) => ({ count: messages.length }),
  })
  await collectEvents(recorder.infer(requests[0]!))
  const screenplay = await parseScreenplay(await recorder.toYaml())
  expect(screenplay.steps[0]!.sent).toEqual({ count: 1 })
  await expect(collectEvents(createScriptedBackend(screenplay).infer({ messages: [] }))).resolves.toHaveLength(2)
})

test("a recorder is what it records, also where arguments are held to the conversation", async () => {
  const small: Backend = {
    ...createScriptedBackend({ steps: [{ reply: "a" }] }, { abilities: { small: true } }),
    groundingText: (messages) => `${messages.length} said`,
  }
  const recorder = recordBackend(small)
  expect(recorder.groundingText!([])).toBe("0 said")
  await collectEvents(recorder.infer(requests[0]!))
  expect(createScriptedBackend(await parseScreenplay(await recorder.toYaml())).abilities.small).toBe(true)
})

test("an inference that was cancelled is kept as one that hangs", async () => {
  const recorder = recordBackend(createScriptedBackend({ steps: [{ reply: { text: "a", hang: true } }] }))
  const controller = new AbortController()
  const run = (async () => {
    for await (const _ of recorder.infer(requests[0]!, { signal: controller.signal })) controller.abort()
  })()
  await expect(run).rejects.toMatchObject({ name: "AbortError" })
  expect(recorder.screenplay().steps[0]).toMatchObject({ reply: { stream: [{ text: ["a"] }], hang: true } })
})

test("an inference that its reader left is kept as one that hangs", async () => {
  const recorder = recordBackend(createScriptedBackend({ steps: [{ reply: { text: "abc", chunks: 1 } }] }))
  for await (const _ of recorder.infer(requests[0]!)) break
  expect(recorder.screenplay().steps).toMatchObject([{ reply: { stream: [{ text: ["a"] }], hang: true } }])
})
