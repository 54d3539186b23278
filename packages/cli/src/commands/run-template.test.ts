import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import type { RunEvent } from "@toolwright/toolbox"
import { cli, folderWith } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

/** The chat template of a model that nobody has heard of. */
const TEMPLATE = [
  "{% if tools %}<~system~>You have {{ tools | tojson }}{% if messages[0].role == 'system' %}{{ " +
    "messages[0].content }}{% endif %}<~end~>{% endif %}",
  "{% for m in messages %}{% if m.role == 'tool' %}<~tool~><~got~>{{ m.content }}<~/got~><~end~>",
  "{% elif m.role != 'system' or not tools %}<~{{ m.role }}~>{{ m.content }}",
  "{% for c in m.tool_calls or [] %}<~do~>{{ c.function.name }}{% for k, v in c.function.arguments.items() " +
    "%}<~key~>{{ k }}<~is~>{{ v if v is string else v | tojson }}<~/key~>{% endfor %}<~/do~>{% endfor %}<~end~>{% " +
    "endif %}{% endfor %}",
  "{% if add_generation_prompt %}<~assistant~>{% endif %}",
].join("")

interface Body {
  tools?: unknown
  messages: { role: string; content: string }[]
}

/** A server of such a model: it answers in the model's own text, and knows nothing of its calls. */
async function serveModel(pages: Readonly<Record<string, object>> = {}): Promise<{ baseUrl: string; bodies: Body[] }> {
  const bodies: Body[] = []
  const server = createServer((request, response) => {
    const page = pages[request.url ?? ""]
    if (request.method !== "POST" || request.url !== "/v1/chat/completions") {
      response.writeHead(page === undefined ? 404 : 200).end(JSON.stringify(page ?? {}))
      return
    }
    let text = ""
    request.on("data", (piece: Buffer) => (text += piece.toString()))
    request.on("end", () => {
      const body = JSON.parse(text) as Body
      bodies.push(body)
      const last = body.messages.at(-1)!.content
      const content = last.includes("<~got~>")
        ? "It says hello."
        : "I look.\n<~do~>file_read<~key~>path<~is~>a.txt<~/key~><~/do~><~end~>"
      const choice = { index: 0, message: { role: "assistant", content }, finish_reason: "stop" }
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ choices: [choice] }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, bodies }
}

/** The same family, told by hand; loading it leaves a trace. */
const DECLARED = `import { writeFileSync } from "node:fs"
writeFileSync(new URL("loaded.txt", import.meta.url), "")
export const crow = {
  id: "crow", aliases: [], title: "Crow", ids: "call", stop: ["<~end~>"], templateMarkers: [],
  calls: [{ codec: "parameters", call: { open: ["<~do~>"], nameEnd: [""], close: ["<~/do~>"] },
    parameter: { open: ["<~key~>"], keyEnd: ["<~is~>"], close: ["<~/key~>"] } }],
  prompt: (tools, call) => "Crows have " + tools.map(({ name }) => name) + ", and call so: " + call,
  result: (call, result) => "<~got~>" + result.output + "<~/got~>",
}`

const files = { "a.txt": "hello\n", "crow.jinja": TEMPLATE, "crow.mjs": DECLARED }
const run = async (extra: string[], pages?: Readonly<Record<string, object>>) => {
  const cwd = folderWith(files)
  return { ...(await runIn(cwd, extra, pages)), cwd }
}
const runIn = async (
  cwd: string,
  extra: string[],
  pages?: Readonly<Record<string, object>>,
  by: typeof here = here,
) => {
  const { baseUrl, bodies } = await serveModel(pages)
  const args = ["run", "what does a.txt say?", "--model", "crow-7b", "--base-url", baseUrl, "--json", ...extra]
  const { code, stdout, stderr } = await by(args, { cwd, env: { XDG_STATE_HOME: `${cwd}/state` } })
  const events = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as RunEvent)
  return { code, stderr, events, bodies }
}

describe("a model that nobody has heard of calls tools", () => {
  test("by the template that is named, in its own words both ways", async () => {
    const { code, stderr, events, bodies } = await run(["--model-template", "crow.jinja"])
    expect(stderr).toContain(
      "No format is known for 'crow-7b'. It is inferred from the chat template; that is sure (19 of 19",
    )
    expect(events.filter(({ type }) => type === "tool-end")).toMatchObject([{ result: { success: true } }])
    expect(bodies[0]!.tools).toBeUndefined()
    expect(bodies[0]!.messages[0]!.content).toContain('You have [{"type": "function"')
    expect(bodies[1]!.messages.at(-1)!.content).toContain("<~got~>")
    expect(code).toBe(0)
  })

  test("by a format of one's own, before what its template says", async () => {
    const { code, stderr, events, bodies } = await runIn(
      folderWith(files),
      ["--format-file", "crow.mjs", "--model-template", "crow.jinja"],
      undefined,
      cli,
    )
    expect(stderr).not.toContain("inferred")
    expect(events.filter(({ type }) => type === "tool-end")).toMatchObject([{ result: { success: true } }])
    expect(bodies[0]!.tools).toBeUndefined()
    expect(bodies[0]!.messages[0]!.content).toMatch(/Crows have .*file_read.* call so: <~do~>tool_name<~key~>/)
    expect(bodies[1]!.messages.at(-1)!.content).toContain("<~got~>")
    expect(code).toBe(0)
  })

  test("a format that a file from elsewhere names is loaded with trust alone, which a change of it ends", async () => {
    const cwd = folderWith({ ...files, "toolwright.yaml": "model: { formatFile: ./crow.mjs }\n" })
    const trace = join(cwd, "loaded.txt")
    // Each in a process of its own: one that has loaded it would not do so again.
    const anew = () => runIn(cwd, [], undefined, cli)
    const untrusted = await anew()
    expect(
      { told: untrusted.stderr.includes("load the format in"), loaded: existsSync(trace) },
      untrusted.stderr,
    ).toEqual({ told: true, loaded: false })
    await here(["trust"], { cwd, env: { XDG_STATE_HOME: `${cwd}/state` } })
    const trusted = await anew()
    expect(trusted.events.filter(({ type }) => type === "tool-end")).toMatchObject([{ result: { success: true } }])
    expect(existsSync(trace)).toBe(true)
    rmSync(trace)
    writeFileSync(join(cwd, "crow.mjs"), `${DECLARED}\n`)
    const changed = await anew()
    expect({ told: changed.stderr.includes("not trusted any more"), loaded: existsSync(trace) }).toEqual({
      told: true,
      loaded: false,
    })
  })

  test("an agent cannot write the format that it is read by", async () => {
    const cwd = folderWith({ ...files, "toolwright.yaml": "model: { formatFile: ./crow.mjs }\n" })
    const written = async (path: string) => {
      const args = ["tools", "call", "write_file", "--path", path, "--content", "x", "--trust"]
      await here(args, { cwd, env: { XDG_STATE_HOME: `${cwd}/state` } })
      return readFileSync(join(cwd, path), "utf8")
    }
    expect([await written("crow.mjs"), await written("a.txt")]).toEqual([DECLARED, "x"])
  })

  test("by the template that the server shows, where tools are written into the prompt", async () => {
    const pages = { "/props": { chat_template: TEMPLATE, default_generation_settings: { n_ctx: 8192 } } }
    const { code, stderr, events } = await run(["--native-tools", "false"], pages)
    expect(stderr).toContain("inferred from the chat template")
    expect(events.filter(({ type }) => type === "tool-end")).toMatchObject([{ result: { success: true } }])
    expect(code).toBe(0)
  })

  test("and where the server says that its template has no tools, they are written into the prompt by themselves", async () => {
    const pages = {
      "/props": {
        chat_template: TEMPLATE,
        chat_template_caps: { supports_tools: false },
        default_generation_settings: {},
      },
    }
    const { stderr, events, bodies } = await run([], pages)
    expect(stderr).toContain("this model's chat template knows no tools")
    expect(bodies[0]!.tools).toBeUndefined()
    expect(events.filter(({ type }) => type === "tool-end")).toMatchObject([{ result: { success: true } }])
  })

  test("a template that is none is told before anything is asked", async () => {
    const { code, stderr, bodies } = await run(["--model-template", "nowhere.jinja"])
    expect({ code: code === 0, asked: bodies.length }).toEqual({ code: false, asked: 0 })
    expect(stderr).toContain("nowhere.jinja is no file")
  })
})
