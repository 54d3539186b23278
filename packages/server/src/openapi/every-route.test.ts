import { beforeAll, expect, test } from "vitest"
import { wholeService } from "../testing/whole-service.ts"
import { servedRoutes } from "./service.ts"

/**
 * Every route that was tried here, and whether it takes a body. One that is new has to be added, and is then tried too.
 */
const TRIED: Readonly<Record<string, "body" | "none">> = {
  "GET /health": "none",
  "GET /tools": "none",
  "POST /tools/{name}/check": "body",
  "GET /runs": "none",
  "POST /runs": "body",
  "GET /runs/agents": "none",
  "POST /runs/import": "body",
  "GET /runs/{id}": "none",
  "GET /runs/{id}/events": "none",
  "GET /runs/{id}/events/{seq}": "none",
  "GET /runs/{id}/events/{seq}/kept/{hash}": "none",
  "GET /runs/{id}/export": "none",
  "GET /runs/{id}/stream": "none",
  "POST /runs/{id}/branch": "body",
  "POST /runs/{id}/resume": "none",
  "POST /runs/{id}/undo": "none",
  "POST /runs/{id}/stop": "none",
  "GET /agents": "none",
  "POST /agents": "body",
  "GET /agents/{name}": "none",
  "DELETE /agents/{name}": "none",
  "GET /tasks": "none",
  "POST /tasks": "body",
  "GET /tasks/stats": "none",
  "GET /tasks/{id}": "none",
  "GET /tasks/{id}/stream": "none",
  "POST /tasks/{id}/cancel": "none",
  "POST /tasks/{id}/retry": "none",
  "GET /evaluations": "none",
  "GET /evaluations/{id}": "none",
  "GET /plans": "none",
  "POST /plans": "body",
  "POST /plans/check": "body",
  "GET /plans/{id}": "none",
  "GET /plans/{id}/stream": "none",
  "POST /plans/{id}/cancel": "none",
  "POST /plans/{id}/retry": "none",
  "GET /approvals": "none",
  "POST /approvals/{id}": "body",
  "GET /figures": "none",
  "GET /connections": "none",
  "POST /connections/examine": "body",
  "GET /prompts": "none",
  "POST /prompts/{name}": "body",
  "GET /conversations": "none",
  "POST /conversations": "body",
  "GET /conversations/{id}": "none",
  "DELETE /conversations/{id}": "none",
  "POST /conversations/{id}/chat": "body",
}

/** What somebody puts where a name belongs. */
const NAMES = [
  "..%2f..%2f..%2fetc%2fpasswd",
  "%2e%2e",
  "%00",
  "a%0d%0aset-cookie:%20x=1",
  "'%20OR%201=1--",
  "__proto__",
  "constructor",
  "%E2%80%AEtxt",
  "%F0%9F%92%A9",
  "-1",
  "1e309",
  "9".repeat(400),
  "x".repeat(7000),
]

const QUERIES = [
  "limit=-1&offset=-1&after=-1&from=-1&length=-1&parts=0&series=-1&to=-1",
  "limit=1e309&offset=9e99&after=NaN&from=Infinity&length=0x10&parts=1e9&series=1e9",
  "limit[]=1&limit=2&state[]=x&text[$ne]=1&__proto__[x]=1",
  "before=1%27~x&agent=%27&surface=%22&task=%00&tool=%25&text=%5C&askedBy=%27--&only=x&calls=x",
  "state=%27&plan=%27&parent=%27&as=../../x&actions=__proto__",
  `text=${"%25".repeat(2000)}`,
]

const DEEP = `${"[".repeat(20_000)}${"]".repeat(20_000)}`
/** Bodies that are no JSON, or JSON of no sense here: each is refused, or taken for what it is. */
const BODIES = [
  "",
  "{",
  "null",
  "[]",
  "1e999",
  '"text"',
  DEEP,
  '{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}',
  '{"task":{"a":1},"agent":[],"seq":"1","edit":{},"input":null,"name":{},"plan":7,"allow":"yes","tries":1e9,"message":[]}',
  '{"task":"","agent":"..\\/..","seq":-1,"input":"","name":"../x","files":["/etc/passwd"],"message":""}',
  '{"format":"toolwright-run","version":1,"run":{"id":"../x"},"events":[{}],"bodies":{"a":1},"summary":1}',
  '{"format":"toolwright-run","version":1,"run":null,"events":null,"below":[null]}',
]

let ask: Awaited<ReturnType<typeof wholeService>>["ask"]
let served: string[]
beforeAll(async () => {
  const service = await wholeService()
  ask = service.ask
  served = servedRoutes(service.app as never)
})

/** What each answer is, whatever was asked: said by the server, without an inner failure, and nothing of it run. */
async function expectAnswered(answer: Response, what: string): Promise<void> {
  expect(answer.status, what).toBeLessThan(500)
  expect(
    [...answer.headers].filter(([name]) => name === "set-cookie"),
    what,
  ).toEqual([])
  if (answer.status < 400) return void (await answer.body?.cancel())
  expect(answer.headers.get("content-type"), what).toMatch(/^application\/problem\+json/)
  const text = await answer.text()
  expect(text, what).not.toMatch(/node_modules|\.ts:\d+|SQLITE|syntax error/)
  expect(text.length, what).toBeLessThan(9000)
}

const asked = (key: string, name: string, query = "", body?: string): Promise<Response> => {
  const [method, path] = key.split(" ") as [string, string]
  const init = body === undefined ? { method } : { method, body }
  return Promise.resolve(ask(`${path.replaceAll(/\{\w+\}/g, name)}${query}`, "whole-token", init))
}

test("every route that is served is tried, and none is that is not", () => {
  expect(Object.keys(TRIED).toSorted()).toEqual(served.toSorted())
})

test.each(Object.entries(TRIED))("%s takes whatever comes for what it is", async (key, takes) => {
  const body = takes === "body" ? "{}" : undefined
  const names = key.includes("{") ? NAMES : ["x"]
  for (const name of names) await expectAnswered(await asked(key, name, "", body), `${key} with ${name.slice(0, 40)}`)
  for (const query of QUERIES)
    await expectAnswered(await asked(key, "x", `?${query}`, body), `${key}?${query.slice(0, 40)}`)
  if (takes === "body") {
    for (const each of BODIES) await expectAnswered(await asked(key, "x", "", each), `${key} of ${each.slice(0, 60)}`)
    const form = await Promise.resolve(
      ask(key.split(" ")[1]!.replaceAll(/\{\w+\}/g, "x"), "whole-token", {
        method: "POST",
        body: "a=1",
        headers: { "content-type": "application/x-www-form-urlencoded" },
      }),
    )
    expect(form.status, `${key} as a form`).toBe(415)
  }
  expect(Object.prototype).not.toHaveProperty("admin")
  expect((await ask("/health")).status).toBe(200)
})
