import { openDatabase, runLog } from "@toolwright/store"
import { ToolRegistry } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { createApp } from "../index.ts"

test("a text that an event of ours names is had by its hash, and no other run's text is", async () => {
  await using database = await openDatabase(":memory:")
  const log = runLog(database)
  const begin = (id: string) =>
    log.begin({ id, agent: "assistant", model: "m", title: id, surface: "run", holder: "h", time: 1 })
  const own = await begin("own")
  const said = JSON.stringify({ role: "user", content: "x".repeat(2_000_000) })
  const message = own.keep(said)
  const grammar = own.keep('root ::= "a"')
  const body = JSON.stringify({ round: 1, prompt: { keep: 0, add: [message] }, grammar })
  await own.append([{ type: "request", body, time: 1 }])
  const other = await begin("other")
  const secret = other.keep("of another run")
  await other.append([{ type: "request", body: JSON.stringify({ grammar: secret }), time: 1 }])
  // What a call says is no name of ours, however it looks.
  await own.append([
    { type: "tool-start", body: JSON.stringify({ grammar: secret, prompt: { add: [secret] } }), time: 1 },
  ])

  const app = createApp({ tools: new ToolRegistry(), runs: { look: async () => log } })
  const get = async (path: string): Promise<Record<string, unknown>> =>
    (await (await app.request(`http://127.0.0.1/runs/${path}`, { headers: { host: "127.0.0.1" } })).json()) as Record<
      string,
      unknown
    >
  expect(await get(`own/events/1/kept/${grammar}`)).toEqual({ size: 12, from: 0, text: 'root ::= "a"' })
  const whole = await get(`own/events/1/kept/${message}`)
  expect([whole.size, whole.text === said.slice(0, 1 << 20)]).toEqual([said.length, true])
  expect(await get(`own/events/1/kept/${message}?from=2000000&length=5`)).toMatchObject({ text: "xxxxx" })
  for (const path of [
    `own/events/1/kept/${secret}`,
    `own/events/2/kept/${secret}`,
    `own/events/2/kept/${grammar}`,
    `own/events/9/kept/${grammar}`,
    "own/events/1/kept/__proto__",
    "own/events/1/kept/..%2f..%2fother",
  ])
    expect([path, (await get(path)).error]).toEqual([path, expect.objectContaining({ code: "UNKNOWN_EVENT" })])
})
