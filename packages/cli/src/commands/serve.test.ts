import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { createScriptedBackend, serveBackend } from "@toolwright/backends"
import { expect, onTestFinished, test } from "vitest"
import { folderWith, startCli } from "../testing/run-cli.ts"
import { here, startHere } from "../testing/run-here.ts"

const started = /at (http:\/\/127\.0\.0\.1:\d+)\s/

test("serves the tools of a folder until it is stopped, and reads again what has changed", async () => {
  const cwd = folderWith({ "a.txt": "one\n" })
  const { child, finished, until } = startCli(["serve", "--port", "0", "--read-only", cwd], { cwd })
  const [, url] = await until(started)
  await until(/\/v1 +is not there, since no model is configured: --model NAME --base-url URL, or --backend pocket\n/)
  const told = async (path: string) => (await fetch(`${url}${path}`, { method: "POST", body: "{}" })).text()
  expect(await told("/v1/chat/completions")).toContain("This server has no model.")
  expect(await told("/approvals/x")).toContain("over a server with a token alone")
  const call = async (name: string, args: object) =>
    (await (
      await fetch(`${url}/tools/${name}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(args),
      })
    ).json()) as { success: boolean; result: { content: string }; error: string }
  const read = () => call("read_text_file", { path: join(cwd, "a.txt") })
  expect((await read()).result.content).toBe("one\n")
  await read()
  expect(await (await fetch(`${url}/metrics`)).text()).toContain("toolwright_cache_hits_total 1")
  writeFileSync(join(cwd, "a.txt"), "two\n")
  expect((await read()).result.content).toBe("two\n")
  expect((await call("write_file", { path: join(cwd, "b.txt"), content: "x" })).success).toBe(false)
  child.kill("SIGINT")
  const { code, stderr } = await finished
  expect(code).toBe(130)
  expect(stderr).toMatch(/"method":"POST","path":"\/tools\/read_text_file","status":200/)
})

test("offers what reads to whoever reaches it without a token, all to those with one, and says what it left out", async () => {
  const cwd = folderWith({ "a.txt": "one\n" })
  const offered = async (args: string[], headers: Record<string, string> = {}) => {
    const { stop, until } = startHere(["serve", "--port", "0", "--mcp", "--quiet", ...args], { cwd })
    const [, url] = await until(started)
    const names = ((await (await fetch(`${url}/tools/`, { headers })).json()) as { name: string }[]).map(
      ({ name }) => name,
    )
    const post = (name: string, body: object) =>
      fetch(`${url}/tools/${name}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      })
    const call = await post("write_file", { path: "b.txt", content: "x" })
    const refused = (await (await post("web_search", { query: "x" })).json()) as object
    const mcp = (await (await fetch(`${url}/mcp/health`, { headers })).json()) as { tools: number }
    const document = await (await fetch(`${url}/openapi.json`, { headers })).text()
    return { names, status: call.status, refused, mcp, document, stdout: (await stop()).stdout }
  }
  const open = await offered([])
  expect(open.names).toEqual(expect.arrayContaining(["read_text_file", "git_status"]))
  for (const name of ["write_file", "bash", "test", "git", "git_commit", "web_search"]) {
    expect(open.names).not.toContain(name)
    expect(open.document).not.toContain(`"/tools/${name}"`)
  }
  expect(open.status).toBe(404)
  expect(open.stdout).toMatch(/Not here: web_search \(.*BRAVE_API_KEY.*\)/)
  expect(open.refused).toMatchObject({
    detail: "Tool 'web_search' not found",
    error: { hint: "The tool 'web_search' is not available here: set BRAVE_API_KEY. GET /tools/ lists the tools." },
  })
  expect(open.mcp).toMatchObject({ status: "healthy", service: "mcp", prompts: 15 })
  expect(open.stdout).toMatch(/Without a token nothing .*Left out: .*write_file.*bash/)
  const secured = await offered(["--token", "long-enough"], { authorization: "Bearer long-enough" })
  expect(secured.names).toEqual(expect.arrayContaining(["write_file", "bash", "git"]))
  expect(secured.names).not.toContain("web_search")
  const all = await offered(["--bundle", "all"])
  expect([all.mcp.tools, open.mcp.tools < all.mcp.tools]).toEqual([open.names.length, true])
  expect(secured.status).toBe(200)
})

test("serves nobody else without a token, and says so", async () => {
  const { code, stderr } = await here(["serve", "--host", "0.0.0.0", "--port", "0"], { cwd: folderWith() })
  expect(code).not.toBe(0)
  expect(stderr).toMatch(/no token is set[\s\S]*--token/)
})

test("a token with tags opens their tools alone, and no other surface", async () => {
  const cwd = folderWith({ "play.yaml": "steps: [{ reply: Hello., repeat: always }]\n" })
  const tokens = ["--token", "all-of-it-1234", "--token", "some-of-it-1234:git"]
  const line = ["serve", "--mcp", "--port", "0", "--quiet", "--screenplay", "play.yaml", ...tokens]
  const { stop, until } = startHere(line, { cwd })
  const [, url] = await until(started)
  const as = (token: string, path: string) => fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  const names = async (token: string) =>
    ((await (await as(token, "/tools/")).json()) as { name: string }[]).map(({ name }) => name)
  expect(await names("all-of-it-1234")).toEqual(expect.arrayContaining(["git", "bash", "read_text_file"]))
  const some = await names("some-of-it-1234")
  expect(some).toContain("git")
  for (const name of ["bash", "read_text_file"]) expect(some).not.toContain(name)
  const entrance = (await (await as("all-of-it-1234", "/")).json()) as { routes: Record<string, string[]> }
  expect(entrance.routes).toMatchObject({ "/mcp": ["GET", "POST", "DELETE"], "/v1/models": ["GET"] })
  for (const path of ["/mcp", "/v1/models", "/api/tags", "/conversations"])
    expect([path, (await as("some-of-it-1234", path)).status]).toEqual([path, 403])
  for (const path of ["/v1/models", "/api/tags"])
    expect([path, (await as("all-of-it-1234", path)).status]).toEqual([path, 200])
  await stop()
})

test.each([
  ["stopped right after its answers", "SIGTERM", ["act", "look", "look"]],
  ["killed right after its answers, what took effect", "SIGKILL", ["act"]],
] as const)("of a server that is %s is on record", async (_, signal, kept) => {
  const cwd = folderWith({ "a.txt": "hello\n" })
  const { child, until, finished } = startCli(["serve", "--port", "0", "--quiet", "--token", "t0ken-of-it"], { cwd })
  const [, url] = await until(started)
  const post = async (tool: string, body: object): Promise<void> => {
    const headers = { "content-type": "application/json", authorization: "Bearer t0ken-of-it" }
    const response = await fetch(`${url}/tools/${tool}`, { method: "POST", headers, body: JSON.stringify(body) })
    expect(await response.json()).toMatchObject({ success: true })
  }
  await post("write_file", { path: "b.txt", content: "x" })
  for (let each = 0; each < 2; each++) await post("read_text_file", { path: "a.txt" })
  child.kill(signal)
  await finished
  const { stdout } = await here(["runs", "--calls", "--json"], { cwd })
  const titles = (JSON.parse(stdout) as { task: string }[]).map(({ task }) => task)
  const names = kept.map((kind) => (kind === "act" ? "write_file" : "read_text_file"))
  expect(titles.toReversed().slice(0, names.length)).toEqual(names)
})

test("a port that is taken and a prompt file that is broken stop the start", async () => {
  const cwd = folderWith({ "prompts/bad.yaml": "name: [" })
  const { stop, until } = startHere(["serve", "--port", "0"], { cwd })
  const port = new URL((await until(started))[1]!).port
  expect((await here(["serve", "--port", port], { cwd })).stderr).toContain(`Port ${port} on 127.0.0.1 is taken`)
  expect((await here(["serve", "--port", "0", "--prompts", join(cwd, "prompts")], { cwd })).stderr).toContain(
    "bad.yaml",
  )
  await stop()
})

test("prompts are listed, shown and rendered, with a file as an argument", async () => {
  const cwd = folderWith({ "add.js": "const add = (a, b) => a - b\n" })
  expect((await here(["prompts"], { cwd })).stdout).toMatch(/code_review +Reviews a piece of code/)
  expect((await here(["prompts", "show", "code_review"], { cwd })).stdout).toContain("code (required): The code")
  const { stdout } = await here(
    ["prompts", "render", "code_review", "--arg", "code=@add.js", "--arg", "language=javascript"],
    { cwd },
  )
  expect(stdout).toMatch(/^Review the following javascript code:[\s\S]*a - b/)
  const wrong = await here(["prompts", "render", "code_review"], { cwd })
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("'code' is missing")])
  expect((await here(["prompts", "show", "code_reviw"], { cwd })).stderr).toContain("Did you mean 'code_review'?")
})

test("with a model, OpenAI clients and conversations are served too, and what was said survives a restart", async () => {
  const cwd = folderWith({
    "a.txt": "one\n",
    "play.yaml": "steps:\n  - reply: Hello.\n  - expect: { any: Hello. }\n    reply: Again.\n",
  })
  const serve = async () => {
    const { stop, until } = startHere(["serve", "--port", "0", "--quiet", "--screenplay", "play.yaml"], { cwd })
    const [, url] = await until(started)
    const call = async (method: string, path: string, body?: object) =>
      (
        await fetch(`${url}${path}`, {
          method,
          headers: { "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
      ).json() as Promise<Record<string, never>>
    return { call, stop }
  }
  const first = await serve()
  const { id } = await first.call("POST", "/conversations", {})
  expect(await first.call("POST", `/conversations/${String(id)}/chat`, { message: "Hi" })).toMatchObject({
    message: { content: "Hello." },
  })
  expect(
    await first.call("POST", "/v1/chat/completions", { messages: [{ role: "user", content: "Hello." }] }),
  ).toMatchObject({ choices: [{ message: { content: "Again." } }] })
  await first.stop()
  const second = await serve()
  expect(await second.call("GET", `/conversations/${String(id)}`)).toMatchObject({
    messages: [{ content: "Hi" }, { content: "Hello." }],
  })
  await second.stop()
})

test("calls of tools that a client did not offer are text, or calls where the command says so", async () => {
  const call = '<tool_call>{"name": "look_up", "arguments": {}}</tool_call>'
  const play = { model: "qwen2.5-7b", abilities: { nativeTools: false }, steps: [{ reply: call }] }
  const cwd = folderWith({ "play.yaml": JSON.stringify(play) })
  const finishOf = async (args: string[]) => {
    const line = ["serve", "--port", "0", "--quiet", "--screenplay", "play.yaml", ...args]
    const { stop, until } = startHere(line, { cwd })
    const [, url] = await until(started)
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        messages: [{ role: "user", content: "Hi" }],
        tools: [{ type: "function", function: { name: "other", parameters: { type: "object" } } }],
      }),
    })
    const { choices } = (await answer.json()) as { choices: { finish_reason: string }[] }
    await stop()
    return choices[0]!.finish_reason
  }
  expect(await finishOf([])).toBe("stop")
  expect(await finishOf(["--unknown-tools", "pass"])).toBe("tool_calls")
  const refused = await here(["serve", "--unknown-tools", "maybe"], { cwd })
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--unknown-tools must be text or pass")])
})

test("where every folder is read-only no tool that writes is offered, with a token neither; a bundle offers its tools alone", async () => {
  const cwd = folderWith({ "a.txt": "one\n" })
  let said = ""
  const offered = async (args: string[]): Promise<string[]> => {
    const line = ["serve", "--port", "0", "--quiet", "--token", "long-enough", ...args]
    const { stop, until } = startHere(line, { cwd })
    const [, url] = await until(started)
    const answer = await fetch(`${url}/tools/`, { headers: { authorization: "Bearer long-enough" } })
    said = (await stop()).stdout
    return ((await answer.json()) as { name: string }[]).map(({ name }) => name)
  }
  const reading = await offered(["--read-only", "."])
  expect(reading).toContain("read_text_file")
  for (const name of ["write_file", "edit_file", "bash", "delete_file", "git"]) expect(reading).not.toContain(name)
  expect(said).toContain("Every folder is read-only, so no tool that writes or runs programs is offered")
  const coding = await offered(["--bundle", "coding"])
  expect(said).not.toContain("read-only")
  expect(coding).toContain("bash")
  expect(coding).not.toContain("read_text_file")
  const unknown = await here(["serve", "--port", "0", "--bundle", "cooking"], { cwd })
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringMatching(/no bundle 'cooking'[^]*coding/) })
})

test("works on the tasks that it is given with as many workers as it is told, and on none with 0", async () => {
  const steps = [{ repeat: "always" as const, reply: "So." }]
  const played = createScriptedBackend({ model: "m", abilities: { nativeTools: true }, steps })
  const model = await serveBackend(played)
  onTestFinished(model.close)
  const headers = { "content-type": "application/json", authorization: "Bearer long-enough" }
  const cwd = folderWith({})
  const flags = ["--port", "0", "--token", "long-enough", "--model", "m", "--base-url", model.baseUrl]
  const idle = startHere(["serve", ...flags, "--workers", "0"], { cwd })
  const [, away] = await idle.until(started)
  const asked = await fetch(`${away}/tasks`, { method: "POST", headers, body: '{"input":"say so"}' })
  const { id } = (await asked.json()) as { id: string }
  await idle.stop()
  const busy = startHere(["serve", ...flags, "--workers", "2"], { cwd })
  const [, url] = await busy.until(started)
  const told = await (await fetch(`${url}/tasks/${id}/stream`, { headers })).text()
  expect(told).toMatch(/"state":"done"/)
  await busy.stop()
})
