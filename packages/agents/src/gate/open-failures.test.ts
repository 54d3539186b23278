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

/** The first call fails, all others write, and tell the file by its path on the machine. */
async function outcomeOfWriting(...paths: string[]) {
  let fails = true
  const write = defineTool({
    name: "write",
    description: "Writes a file",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] } as const,
    effects: { writes: ["path"] },
    execute: ({ path }) => {
      const failed = fails
      fails = false
      if (failed) return failure({ code: "TOOL_FAILED", message: "it could not be written" })
      return success({ output: "written", modifiedFiles: [path.startsWith("/") ? path : `/top/${path}`] })
    },
  })
  const steps = [...paths.map((path) => calls(call("write", { path }))), { reply: "All is written." }]
  const { summary } = await play(steps, [write])
  return [summary.outcome, summary.correctedFailures]
}

test("what failed on a file is put right on that file, and not on one of the same name in another folder", async () => {
  expect(await outcomeOfWriting("src/add.js", "lib/src/add.js")).toEqual(["completed-with-failures", 0])
  expect(await outcomeOfWriting("src/add.js", "src/add.js")).toEqual(["completed", 1])
  expect(await outcomeOfWriting("src/add.js", "/top/src/add.js")).toEqual(["completed", 1])
  expect(await outcomeOfWriting("/top/src/add.js", "src/add.js")).toEqual(["completed", 1])
})
