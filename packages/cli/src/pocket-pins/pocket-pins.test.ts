/** The pocket model through every room, from the engine to the command. Its answers are pinned; see `pins.ts`. */
import {
  generateMasked,
  openPocket,
  pocketGrounding,
  pocketPrompt,
  pocketTools,
  type LlamaBackend,
} from "@toolwright/backends"
import { createMaskEngine, grammarToGbnf } from "@toolwright/logits"
import { createToolwright } from "@toolwright/runtime"
import { formatterById, grammarFor, type ChatMessage } from "@toolwright/toolformat"
import type { ToolDefinition } from "@toolwright/toolbox"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { cli, folderWith, startCli } from "../testing/run-cli.ts"
import { expectPinned } from "./pins.ts"

const REQUESTS = [
  "show me the first 5 lines of README.md",
  "what is in the folder src?",
  "find TODO in src",
  "where is config.json",
  "create a folder called notes",
  'put "hello world" in notes/a.txt',
  'in src/sum.js replace "a - b" with "a + b"',
  "rename draft.md to final.md",
  "how big is logo.svg?",
  "please run the tests",
  "what have I changed?",
  'commit everything with the message "Fix the sum"',
  "run npm install",
  "book me a flight to Lisbon",
]

let backend: LlamaBackend
let tools: readonly ToolDefinition[]

beforeAll(async () => {
  backend = await openPocket()
  await using toolwright = await createToolwright({
    withBuiltins: true,
    cwd: import.meta.dirname,
    env: {},
    record: false,
  })
  tools = pocketTools(toolwright.registry.list())
})
afterAll(() => backend.close())

const asked = (request: string): ChatMessage[] => [{ role: "user", content: request }]
const grammarOf = (request: string) =>
  grammarFor("hermes", tools, { grounding: { text: request, rules: pocketGrounding(request) } })

async function reply(request: string, grammar?: string): Promise<string> {
  let text = ""
  for await (const event of backend.infer({ messages: asked(request), ...(grammar !== undefined && { grammar }) }))
    if (event.type === "text-delta") text += event.text
  return text
}

describe("the engine, held by grounded grammars", () => {
  test.each(REQUESTS)("%s", async (request) => {
    expectPinned(request, await reply(request, grammarToGbnf(grammarOf(request))))
  })

  test("answers as our own masks do", async () => {
    for (const request of REQUESTS.slice(0, 5)) {
      const constraint = createMaskEngine(grammarOf(request), backend.engine.tokenizer).matcher()
      const prompt = pocketPrompt(backend.engine, asked(request))!
      const { text } = await generateMasked(backend.engine, prompt, { constraint, sampler: { temperature: 0 } })
      expectPinned(request, text)
    }
  })

  test("is read by its format as the same calls, wherever the stream is cut", async () => {
    const request = REQUESTS[6]!
    const text = await reply(request, grammarToGbnf(grammarOf(request)))
    const formatter = formatterById("hermes")
    const whole = formatter.parse(text, { tools }).calls.map(({ name, arguments: args }) => ({ name, arguments: args }))
    expect(whole).toHaveLength(1)
    for (let at = 0; at <= text.length; at++) {
      const parser = formatter.createParser({ tools })
      const events = [...parser.push(text.slice(0, at)), ...parser.push(text.slice(at)), ...parser.end()]
      const calls = events.flatMap((event) =>
        event.type === "call-end" ? [{ name: event.call.name, arguments: event.call.arguments }] : [],
      )
      expect(calls, `cut at ${at}`).toEqual(whole)
    }
  })
})

describe("the executor", () => {
  test("does what it was asked in two steps", async () => {
    const cwd = folderWith({ "README.md": "# Sample\n" })
    await using toolwright = await createToolwright({ withBuiltins: true, cwd, env: {}, record: false })
    const calls: string[] = []
    const run = toolwright.run('create a folder notes and put "hello" in notes/a.txt')
    let step = await run.next()
    for (; step.done !== true; step = await run.next())
      if (step.value.type === "tool-start") calls.push(`${step.value.name} ${JSON.stringify(step.value.arguments)}`)
    expectPinned('create a folder notes and put "hello" in notes/a.txt', `${calls.join("\n")}\n${step.value.message}`)
    expect(readFileSync(join(cwd, "notes/a.txt"), "utf8")).toBe("hello")
  })
})

describe("the gateway", () => {
  test("gives an OpenAI client calls from it", async () => {
    const cwd = folderWith({ "README.md": "# Sample\n" })
    const server = startCli(["serve", "--backend", "pocket", "--port", "0", "--quiet"], {
      cwd,
      env: { XDG_STATE_HOME: join(cwd, "state") },
      keepOpen: true,
    })
    onTestFinished(() => void server.child.kill())
    const [, url = ""] = await server.until(/(http:\/\/\S+)\/v1 /)
    const [tool] = tools
    const body = {
      model: "pocket",
      messages: asked("show me the first 5 lines of README.md"),
      tools: [
        {
          type: "function",
          function: { name: tool!.name, description: tool!.description, parameters: tool!.parameters },
        },
      ],
    }
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    })
    const answer = (await response.json()) as {
      choices: [{ message: { tool_calls?: { function: { name: string; arguments: string } }[] } }]
    }
    const [call] = answer.choices[0].message.tool_calls ?? []
    expect({ name: call?.function.name, arguments: JSON.parse(call?.function.arguments ?? "null") as unknown }).toEqual(
      { name: "read_text_file", arguments: { path: "README.md", head: 5 } },
    )
  })
})

describe("the command", () => {
  test("shows the calls of a dry run as lines of JSON", async () => {
    const request = 'search for "TODO" in src and then delete old.txt'
    const { code, stdout } = await cli(["run", request, "--dry-run", "--json", "--no-record"], {
      cwd: folderWith({ "src/a.js": "// TODO\n" }),
    })
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; name?: string; arguments?: unknown })
    const calls = events
      .filter(({ type }) => type === "call-end")
      .map(({ name, arguments: args }) => `${name} ${JSON.stringify(args)}`)
    expectPinned(request, calls.join("\n"))
    expect(code).toBe(0)
  })
})
