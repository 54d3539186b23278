import { ToolRegistry } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { createApp } from "./app.ts"

test("a body that is nested without end is refused, and stops nothing", async () => {
  const app = createApp({ tools: new ToolRegistry() })
  const body = `{"a":${"[".repeat(400_000)}1${"]".repeat(400_000)}}`
  for (const path of ["/tools/echo", "/v1/chat/completions"]) {
    const headers = { "content-type": "application/json", host: "localhost" }
    const { status } = await app.fetch(new Request(`http://localhost${path}`, { method: "POST", body, headers }))
    expect([400, 404, 422], path).toContain(status)
  }
})
