import { expect, test } from "vitest"
import { formatterById } from "@toolwright/toolformat"
import type { Backend } from "./model/backend.ts"
import { collectEvents } from "./testing/collect-events.ts"
import { wrapBackend } from "./wrap.ts"

/** A backend with everything that one may have. */
function whole() {
  const state = { name: "first", closed: false }
  const backend: Required<Backend> = {
    kind: "whole",
    api: "anthropic",
    abilities: { nativeTools: false, grammar: true, jsonSchema: false },
    contextTokens: 512,
    modelFormat: { formatter: formatterById("hermes"), because: "It is set." },
    modelName: () => state.name,
    async *infer({ messages }) {
      yield { type: "text-delta", text: messages[0]!.content }
    },
    groundingText: () => "grounded",
    forward: () => Promise.resolve(new Response("passed on")),
    leavesOut: () => ["top_k"],
    tokenize: (text) => Promise.resolve([text.length]),
    close: () => Promise.resolve(void (state.closed = true)),
  }
  return { backend, state }
}

test("everything of a backend passes through a wrapper, now and later", async () => {
  const { backend, state } = whole()
  const wrapped = wrapBackend(backend, {})
  expect(Object.keys(wrapped).toSorted()).toEqual(Object.keys(backend).toSorted())
  state.name = "second"
  expect([wrapped.kind, wrapped.modelName(), wrapped.contextTokens]).toEqual(["whole", "second", 512])
  expect(wrapped.abilities).toBe(backend.abilities)
  expect(wrapped.groundingText!([])).toBe("grounded")
  expect(wrapped.leavesOut!({ messages: [] })).toEqual(["top_k"])
  expect(await wrapped.tokenize!("abc")).toEqual([3])
  expect(await collectEvents(wrapped.infer({ messages: [{ role: "user", content: "a" }] }))).toEqual([
    { type: "text-delta", text: "a" },
  ])
  await wrapped.close!()
  expect(state.closed).toBe(true)
})

test("what a wrapper has of its own goes before, and what the backend lacks is not made up", async () => {
  const { backend } = whole()
  const wrapped = wrapBackend(backend, { kind: "wrapped" as const, modelName: () => "own", count: 1 })
  expect([wrapped.kind, wrapped.modelName(), wrapped.count]).toEqual(["wrapped", "own", 1])
  const { groundingText: _grounding, close: _close, contextTokens: _tokens, ...bare } = backend
  expect(Object.keys(wrapBackend(bare, {})).toSorted()).toEqual(Object.keys(bare).toSorted())
})
