import { defineTool, ToolRegistry } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { createApp } from "../index.ts"

/** A server whose tools may be called once somebody permits it, and what was called. */
function serve() {
  const done: string[] = []
  const tools = new ToolRegistry()
  for (const name of ["remove", "send"]) {
    tools.register(
      defineTool({
        name,
        description: name,
        parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
        tags: ["files"],
        effects: { readOnly: false, destructive: true },
        execute: ({ path }) => {
          done.push(`${name} ${String(path)}`)
          return `${name} done`
        },
      }),
    )
  }
  const app = createApp({
    tools,
    tokens: [{ token: "whole-token" }, { token: "narrow-token", tags: ["files"] }, { token: "other-token" }],
    permissions: { rules: [{ tool: "*", permission: "ask" }] },
  })
  const call = async (name: string, path: string, { token = "whole", key = "", approved = false } = {}) => {
    const response = await app.request(`http://localhost/tools/${name}`, {
      method: "POST",
      headers: {
        host: "localhost",
        "content-type": "application/json",
        authorization: `Bearer ${token}-token`,
        ...(key === "" ? {} : { "idempotency-key": key }),
        ...(approved ? { "x-toolwright-approved": "1" } : {}),
      },
      body: JSON.stringify({ path }),
    })
    return { status: response.status, text: await response.text() }
  }
  return { call, done }
}

test("a call that was declined is made under the same key once it is permitted, and only once", async () => {
  const { call, done } = serve()
  const declined = await call("remove", "a", { key: "k" })
  expect(declined.text).toContain("PERMISSION_DENIED")
  expect(done).toEqual([])
  for (let time = 0; time < 2; time++)
    expect(await call("remove", "a", { key: "k", approved: true })).toMatchObject({ status: 200 })
  expect(done).toEqual(["remove a"])
  // Its answer is no permission: it is the answer of a call that was permitted.
  expect((await call("remove", "a", { key: "k" })).text).toContain("remove done")
  expect((await call("remove", "b", { key: "k", approved: true })).text).toContain("IDEMPOTENCY_KEY_REUSED")
  expect(done).toEqual(["remove a"])
})

test("what is permitted holds for that call alone: no other arguments, tool, token or key", async () => {
  const { call, done } = serve()
  expect(await call("remove", "a", { approved: true })).toMatchObject({ status: 200 })
  for (const [name, path, how] of [
    ["remove", "a", {}],
    ["remove", "b", {}],
    ["send", "a", {}],
    ["remove", "a", { token: "other" }],
    ["remove", "a", { key: "new" }],
    ["remove", "a", { token: "narrow", approved: true }],
  ] as const)
    expect((await call(name, path, how)).text, JSON.stringify([name, path, how])).toContain("PERMISSION_DENIED")
  expect(done).toEqual(["remove a"])
})
