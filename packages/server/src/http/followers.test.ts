import { once } from "node:events"
import { connect } from "node:net"
import type { RunLog } from "@toolwright/store"
import { ToolRegistry } from "@toolwright/toolbox"
import { expect, onTestFinished, test, vi } from "vitest"
import { createApp, listen, type AccessToken } from "../index.ts"

const EVENTS = 2_000
const TEXT = "x".repeat(40_000)

/** A server with one run whose events come as fast as they are taken, or never. */
async function served({ tokens = [], stallMs = 30_000, endless = false }: Served) {
  const counts = { given: [] as number[], over: 0 }
  const row = { id: "r", agent: "", caller: "", title: "", surface: "http", started_at: 1, ended_at: 2, state: "ended" }
  const log = {
    get: async () => ({ ...row, summary: "{}", parent_run: null, task: null }),
    async *follow(_run: string, { signal }: { signal: AbortSignal }) {
      const reader = counts.given.push(0) - 1
      try {
        if (endless) await once(signal, "abort")
        for (let seq = 1; seq <= EVENTS && !signal.aborted; seq++) {
          counts.given[reader] = seq
          yield [{ seq, type: "text-delta".padEnd(TEXT.length, "x"), time: 1, hash: "h", body: "{}" }]
        }
      } finally {
        counts.over++
      }
    },
  } as unknown as RunLog
  const app = createApp({ tools: new ToolRegistry(), runs: { look: async () => log }, tokens })
  const server = await listen(app, { port: 0, secured: true, drainMs: 10, stallMs })
  onTestFinished(() => server.close())
  const follow = (token = "") =>
    fetch(`${server.url}/runs/r/stream`, token === "" ? {} : { headers: { authorization: `Bearer ${token}` } })
  return { server, counts, follow }
}

interface Served {
  tokens?: AccessToken[]
  stallMs?: number
  endless?: boolean
}

test("nothing piles up for a follower that never reads, and its connection ends", async () => {
  const { server, counts, follow } = await served({ stallMs: 2_000 })
  const silent = connect(server.port, "127.0.0.1")
  silent.on("error", () => {})
  silent.pause()
  await once(silent, "connect")
  silent.write("GET /runs/r/stream HTTP/1.1\r\nhost: localhost\r\n\r\n")
  await vi.waitFor(() => expect(counts.given[0]).toBeGreaterThan(0))
  // Who reads is told all of it meanwhile: the other one could have been too.
  expect((await (await follow()).text()).split("\nevent: event\n").length).toBeGreaterThan(1)
  expect(counts.given[1]).toBe(EVENTS)
  expect(counts.given[0]! * TEXT.length).toBeLessThan(16_000_000)
  await vi.waitFor(() => expect(counts.over).toBe(2), { timeout: 60_000 })
  expect(counts.given[0]! * TEXT.length).toBeLessThan(16_000_000)
  silent.destroy()
})

test("one caller cannot hold the seats of all followers", async () => {
  const { counts, follow } = await served({ tokens: [{ token: "one" }, { token: "two" }], endless: true })
  // Held, as `fetch` closes the connection of an answer that nobody holds any more.
  const answers: Response[] = []
  for (let at = 0; at < 140; at++) answers.push(await follow("one"))
  const statuses = answers.map(({ status }) => status)
  expect([statuses.filter((status) => status === 200).length, statuses.at(-1)]).toEqual([128, 429])
  answers.push(await follow("two"))
  expect(answers.at(-1)!.status).toBe(200)
  expect(counts.given).toHaveLength(129)
})
