import { defineTool, failure, success, type JsonObject } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { call, calls, play } from "../testing/harness.ts"

/** A tool that says nothing of what it changes, and cannot reach one of its addresses the first time. */
function unclassified() {
  let down = true
  const parameters = {
    type: "object",
    properties: { to: { type: "string" }, text: { type: "string" }, copies: { type: "integer" } },
    required: ["to", "text"],
  } as const
  return defineTool({
    name: "send",
    description: "Sends a message",
    parameters,
    execute: ({ to }) => {
      const fails = to === "ann" && down
      down = false
      return fails ? failure({ code: "TOOL_FAILED", message: "ann cannot be reached" }) : success({ output: "sent" })
    },
  })
}

async function outcomeOf(...sent: JsonObject[]) {
  const steps = [...sent.map((args) => calls(call("send", args))), { reply: "All messages are sent." }]
  const { summary } = await play(steps, [unclassified()])
  return [summary.outcome, summary.correctedFailures, (summary.notes ?? []).map(({ code }) => code).join()]
}

test("what failed is not put right by a call with other arguments of a tool that says nothing of itself", async () => {
  const left = ["completed-with-failures", 0, "TOOL_FAILED"]
  expect(await outcomeOf({ to: "ann", text: "hi" }, { to: "bob", text: "hi" })).toEqual(left)
  expect(await outcomeOf({ to: "ann", text: "hi" }, { to: "ann", text: "bye" })).toEqual(left)
  expect(await outcomeOf({ to: "ann", text: "hi", copies: 1 }, { to: "ann", text: "hi", copies: 2 })).toEqual(left)
})

test("it is put right by the same call, in whatever order its arguments stand, and with more of them", async () => {
  const right = ["completed", 1, ""]
  expect(await outcomeOf({ to: "ann", text: "hi" }, { text: "hi", to: "ann" })).toEqual(right)
  expect(await outcomeOf({ to: "ann", text: "hi" }, { to: "ann", text: "hi", copies: 2 })).toEqual(right)
})

test("a call of a wrong form is put right where only what was wrong is given in another", async () => {
  const wrong = { to: "bob", text: "hi", copies: "many" }
  expect(await outcomeOf(wrong, { to: "bob", text: "hi", copies: 2 })).toEqual(["completed", 1, ""])
  expect(await outcomeOf({ to: "bob" }, { to: "bob", text: "hi" })).toEqual(["completed", 1, ""])
  expect((await outcomeOf(wrong, { to: "cleo", text: "hi", copies: 2 }))[0]).toBe("completed-with-failures")
  expect((await outcomeOf({ to: "bob" }, { to: "cleo", text: "hi" }))[0]).toBe("completed-with-failures")
})
