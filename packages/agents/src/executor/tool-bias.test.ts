import { wrapBackend, createScriptedBackend, type InferRequest } from "@toolwright/backends"
import { expect, test } from "vitest"
import { echo, registryOf } from "../testing/harness.ts"
import { DynamicExecutor } from "./executor.ts"
import type { ExecutorOptions } from "./options.ts"

const TOOLS = [echo("gather", { produces: ["notes"] }), echo("publish", { consumes: ["notes"] }), echo("look")]

/** The biases that a run of some calls was sent with, by names, where each name is one token. */
async function biases(calls: readonly string[], more: Partial<ExecutorOptions>) {
  const names = TOOLS.map(({ name }) => name)
  const scripted = createScriptedBackend(
    { steps: [...calls.map((name) => ({ reply: { calls: [{ name, arguments: {} }] } })), { reply: "Done." }] },
    { abilities: { nativeTools: true, grammar: false, jsonSchema: false } },
  )
  const seen: InferRequest[] = []
  const backend = wrapBackend(scripted, {
    infer(request, options) {
      seen.push(request)
      return scripted.infer(request, options)
    },
    tokenize: (text) => Promise.resolve([0, 1 + names.findIndex((name) => text.endsWith(name))]),
  })
  const sampling = { logitBias: { 9: 5 } }
  await new DynamicExecutor({ tools: registryOf(...TOOLS), backend, sampling, ...more }).complete({ task: "Do it" })
  return seen.map(({ sampling: sent }) =>
    Object.fromEntries(
      Object.entries(sent?.logitBias ?? {}).map(([token, value]) => [names[+token - 1] ?? token, value]),
    ),
  )
}

test("tools whose inputs are there are made likelier, beside what is set for single tokens", async () => {
  expect(await biases(["gather"], { toolBias: true })).toEqual([{ 9: 5 }, { 9: 5, publish: 1 }])
})

test("tools that the rules deny are made less likely in every round", async () => {
  const permissions = { rules: [{ tool: "look", permission: "deny" as const }] }
  expect(await biases(["gather"], { toolBias: true, permissions })).toEqual([
    { 9: 5, look: -8 },
    { 9: 5, look: -8, publish: 1 },
  ])
})

test("nothing is weighed unless it is asked for", async () => {
  expect(await biases(["gather"], {})).toEqual([{ 9: 5 }, { 9: 5 }])
})
