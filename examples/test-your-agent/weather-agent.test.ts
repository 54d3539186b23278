import assert from "node:assert/strict"
import {
  callsOf,
  faulty,
  followRun,
  pocket,
  pocketAvailable,
  recording,
  runAgent,
  scripted,
  stubbed,
  workspace,
  type TestModel,
} from "@toolwright/testing"
import { createOpenAICompatibleBackend } from "toolwright"
import { test } from "./runner.ts"
import { createWeatherAgent, getWeather } from "./weather-agent.ts"

const oslo = { call: "get_weather", arguments: { city: "Oslo" } }
const cold = stubbed(getWeather, { celsius: -4, rain: false })

/** Runs the agent as the application does, with another model and other tools. */
async function ask(backend: TestModel, tool = cold) {
  await using agent = await createWeatherAgent({ backend, tools: [tool] })
  return await followRun((signal) => agent.run("Do I need a coat in Oslo?", { signal }), { backend })
}

test("looks at the weather before it answers", async () => {
  const model = scripted([oslo, { expect: { result: { json: { "$.celsius": -4 } } }, text: "Yes, it is freezing." }])
  const run = await ask(model)
  assert.deepEqual(callsOf(run), [oslo])
  assert.equal(run.text, "Yes, it is freezing.")
  assert.match(model.shown[0]!.user, /coat/)
})

test("asks again when the weather service fails", async () => {
  const model = scripted([oslo, { expect: { success: false, result: /failed on purpose/ }, ...oslo }, "Yes."])
  const run = await ask(model, faulty(cold, { fail: 1 }))
  assert.deepEqual(
    run.calls.map(({ succeeded }) => succeeded),
    [false, true],
    run.transcript,
  )
})

test("corrects a call that cannot be right", async () => {
  const wrong = { call: "get_weather", arguments: { town: "Oslo" }, wrong: true }
  const run = await ask(scripted([wrong, { expect: { result: "city" }, ...oslo }, "Yes."]))
  assert.equal(run.calls[0]!.error?.code, "INVALID_ARGUMENTS")
  assert.equal(run.summary.correctedFailures, 1)
})

test("says so when its model breaks off", async () => {
  const run = await ask(scripted([oslo, { text: "Yes, it is fr", fail: "cut-off" }]))
  assert.equal(run.outcome, "failed")
  assert.equal(run.error?.code, "MODEL_BAD_REPLY")
})

test("does what it did when it was recorded", async () => {
  const model = await recording(new URL("recordings/oslo.yaml", import.meta.url), {
    backend: () =>
      createOpenAICompatibleBackend({
        baseUrl: process.env.MODEL_URL ?? "http://localhost:8080/v1",
        modelName: "qwen2.5-7b-instruct",
      }),
    ignore: ["system"],
  })
  assert.deepEqual(callsOf(await ask(model)), [oslo])
})

test("works with a real model, without a network", { skip: (await pocketAvailable()).skip }, async () => {
  using project = workspace({ files: { "README.md": "# Sums\n\nAdds numbers.\n" } })
  const run = await runAgent({
    task: "show me the first 5 lines of README.md",
    backend: await pocket({ workspace: project }),
    workspace: project,
  })
  assert.match(run.calls[0]?.output ?? "", /Adds numbers/, run.transcript)
  assert.deepEqual(run.changed, [])
})
