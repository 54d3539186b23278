import { openDatabase, runLog } from "@toolwright/store"
import { ToolRegistry } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { createApp } from "../index.ts"

test("many who ask for pages of long events at once are answered a few at a time", async () => {
  const log = runLog(await openDatabase(":memory:"))
  const head = { id: "long", agent: "assistant", model: "m", title: "t", surface: "run", holder: "h", time: 1000 }
  const writer = await log.begin(head)
  const body = JSON.stringify({ text: "x".repeat(20_000) })
  const events = Array.from({ length: 450 }, () => ({ type: "text-delta", body, time: 1001 }))
  await writer.end(events, { outcome: "completed", summary: "{}", time: 1002 })
  let reading = 0
  let most = 0
  const counted = new Proxy(log, {
    get(target, name: keyof typeof log) {
      if (name !== "events") return Reflect.get(target, name) as unknown
      return async (...asked: Parameters<typeof log.events>) => {
        const found = await target.events(...asked)
        const size = found.reduce((sum, each) => sum + (each.body?.length ?? 0), 0)
        reading += size
        most = Math.max(most, reading)
        // What has been read is let go of once the next piece is, or its page is done.
        setTimeout(() => (reading -= size), 0)
        return found
      }
    },
  })
  const runs = { look: () => Promise.resolve(counted), open: () => Promise.resolve(counted) }
  const app = createApp({ tools: new ToolRegistry(), runs })
  const ask = async () => {
    const answer = await app.request("http://127.0.0.1/runs/long/events", { headers: { host: "127.0.0.1" } })
    return ((await answer.json()) as { events: object[] }).events.length
  }
  const pages = await Promise.all(Array.from({ length: 40 }, ask))
  expect(new Set(pages).size).toBe(1)
  expect(most).toBeLessThan(16 * 1024 * 1024)
})
