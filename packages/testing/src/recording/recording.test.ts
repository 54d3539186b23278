import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import {
  createOpenAICompatibleBackend,
  createScriptedBackend,
  infer,
  loadScreenplay,
  serveBackend,
  type Backend,
} from "@toolwright/backends"
import { defineTool, ToolwrightError, type ToolDefinition } from "@toolwright/toolbox"
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest"
import { callsOf } from "../run/agent-run.ts"
import { runAgent } from "../run/run-agent.ts"
import type { ScriptedReply } from "../script/reply.ts"
import { scripted } from "../script/scripted.ts"
import { workspace, type TestWorkspace } from "../workspace/workspace.ts"
import { recording, type RecordingOptions } from "./recording.ts"

afterEach(() => vi.unstubAllEnvs())

let celsius = 4
const weather = defineTool({
  name: "get_weather",
  description: "Weather of a city",
  effects: { readOnly: true },
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => `${celsius} °C in ${String(city)}`,
})
const oslo = { call: "get_weather", arguments: { city: "Oslo" } }
const replies: ScriptedReply[] = [
  { text: "I look.", ...oslo, usage: { inputTokens: 5, outputTokens: 3 } },
  "Take a coat.",
]

/** A folder for a recording, and a real model behind it. */
function place(): { file: string; folder: TestWorkspace } {
  const folder = workspace()
  onTestFinished(() => folder.remove())
  return { file: join(folder.path, "fixtures/weather.yaml"), folder }
}
const run = async (
  file: string | URL,
  options: RecordingOptions = {},
  task = "Coat in Oslo?",
  tools: ToolDefinition[] = [weather],
) => runAgent({ task, tools, backend: await recording(file, options) })
const record = (
  file: string,
  said: readonly ScriptedReply[] = replies,
  options: RecordingOptions = {},
  task?: string,
) => run(file, { update: true, backend: scripted(said), ...options }, task)

async function messageOf(work: Promise<unknown>): Promise<string> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!ToolwrightError.isInstance(thrown)) throw new Error("It did not fail.", { cause: thrown })
  return `${thrown.code}: ${thrown.message}`
}

describe("a recording", () => {
  test("is made once when it is asked for, and then answers without the model", async () => {
    const { file } = place()
    let made = 0
    const backend = (): Backend => (made++, scripted(replies))
    vi.stubEnv("TOOLWRIGHT_RECORD", "1")
    const first = await run(file, { backend })
    vi.stubEnv("TOOLWRIGHT_RECORD", "")
    const second = await run(pathToFileURL(file), { backend })
    expect(made).toBe(1)
    expect([second.text, callsOf(second)]).toEqual(["Take a coat.", [oslo]])
    const deltas = (played: typeof first) => played.events.filter(({ type }) => type.endsWith("-delta"))
    expect(deltas(second)).toEqual(deltas(first))
    expect([second.summary.inputTokens, second.summary.outputTokens]).toEqual([5, 3])
  })

  test("is made where it is missing, if that is wanted", async () => {
    const { file } = place()
    vi.stubEnv("TOOLWRIGHT_RECORD", "missing")
    expect((await run(file, { backend: scripted(replies) })).text).toBe("Take a coat.")
    expect((await run(file, { backend: scripted([]) })).text).toBe("Take a coat.")
    vi.stubEnv("TOOLWRIGHT_RECORD", "yes")
    expect(await messageOf(run(file))).toBe(
      "RECORDING_INVALID: TOOLWRIGHT_RECORD is 'yes', which means nothing; set it to 1 or to 'missing'.",
    )
  })

  test("is a screenplay that can be read, and holds each message once", async () => {
    const { file } = place()
    await record(file)
    const text = readFileSync(file, "utf8")
    expect(text).toMatch(
      /^# Recorded by @toolwright\/testing\. To record it, run the test with TOOLWRIGHT_RECORD=1\.\n/,
    )
    expect(text.match(/Coat in Oslo\?/g)).toHaveLength(1)
    expect(text.match(/Weather of a city/g)).toHaveLength(1)
    const screenplay = await loadScreenplay(file)
    expect(screenplay.steps.map(({ sent }) => Object.keys(sent!))).toEqual([
      ["messages", "tools", "toolChoice"],
      ["keeps", "messages", "tools", "toolChoice"],
    ])
    expect((await infer(createScriptedBackend(screenplay), { userPrompt: "?" })).text).toBe("I look.")
  })

  test("is the same over HTTP, and without the server's key", async () => {
    const { file } = place()
    const apiKey = "plain-words-only"
    {
      await using server = await serveBackend(scripted(replies), { apiKey })
      const backend = () => createOpenAICompatibleBackend({ baseUrl: server.baseUrl, modelName: "qwen2.5", apiKey })
      expect((await run(file, { update: true, backend })).text).toBe("Take a coat.")
    }
    const played = await run(file)
    expect([played.text, callsOf(played)]).toEqual(["Take a coat.", [oslo]])
    expect(readFileSync(file, "utf8")).not.toContain(apiKey)
  })

  test("answers requests that come in another order", async () => {
    const { file } = place()
    const ask = async (model: Backend, ...prompts: string[]) => {
      const texts = await Promise.all(prompts.map((userPrompt) => infer(model, { userPrompt })))
      return texts.map(({ text }) => text)
    }
    {
      await using model = await recording(file, {
        update: true,
        backend: scripted([({ user }) => `${user}!`, ({ user }) => `${user}!`]),
      })
      expect(await ask(model, "a", "b")).toEqual(["a!", "b!"])
    }
    const model = await recording(file)
    expect(await ask(model, "b", "a")).toEqual(["b!", "a!"])
    model.done()
  })

  test("serves several runs of one test", async () => {
    const { file } = place()
    const both = async (backend: Backend) => [
      await runAgent({ task: "One", tools: [weather], backend, more: true }),
      await runAgent({ task: "Two", tools: [weather], backend }),
    ]
    await both(await recording(file, { update: true, backend: scripted(["1", "2"]) }))
    expect((await both(await recording(file))).map(({ text }) => text)).toEqual(["1", "2"])
  })
})

describe("what goes wrong is said", () => {
  test("no recording, with how to make one", async () => {
    const { file } = place()
    expect(await messageOf(run(file))).toBe(
      `RECORDING_MISSING: There is no recording ${file} yet. To record it, run the test with TOOLWRIGHT_RECORD=1.`,
    )
    expect(await messageOf(run(file, { update: true }))).toBe(
      "RECORDING_INVALID: weather.yaml cannot be recorded: give recording() the 'backend' to record.",
    )
    expect(existsSync(file)).toBe(false)
  })

  test("another result of a tool, line by line", async () => {
    const { file } = place()
    await record(file)
    celsius = 5
    onTestFinished(() => void (celsius = 4))
    await expect(run(file)).rejects.toMatchObject({
      stack: expect.stringMatching(/^ToolwrightError: The model is asked [^]*\n {4}at .*recording\.test\.ts/),
    })
    expect(await messageOf(run(file))).toBe(
      "RECORDING_CHANGED: The model is asked something else than in request 2 of 2 of weather.yaml (- " +
        "recorded, + now):\n" +
        "message 4, result of get_weather:\n  -4 °C in Oslo\n  +5 °C in Oslo\nIf that is meant: To record it, " +
        "run the test with TOOLWRIGHT_RECORD=1.",
    )
  })

  test("another task, another tool, another description", async () => {
    const { file } = place()
    await record(file)
    expect(await messageOf(run(file, {}, "Coat in Rome?"))).toContain(
      "message 2, user:\n  -Coat in Oslo?\n  +Coat in Rome?\n",
    )
    const more = [
      { ...weather, description: "Weather" },
      defineTool({ name: "get_time", description: "Time", parameters: { type: "object" }, execute: () => "" }),
    ]
    const message = await messageOf(run(file, {}, undefined, more))
    expect(message).toMatch(
      /the tool get_weather:\n\s+\{\n\s+-\s+"description": "Weather of a city",\n\s+\+\s+"description": "Weather",/,
    )
    expect(message).toContain("the tool get_time is new:\n  +{")
    expect((await run(file, { ignore: ["tools"] }, undefined, more)).text).toBe("Take a coat.")
  })

  test("another grammar, of which a long one is kept as its hash", async () => {
    const { file } = place()
    const ask = async (model: Backend, grammar: string) => infer(model, { userPrompt: "?", grammar })
    {
      await using model = await recording(file, { update: true, backend: scripted(["1", "2"]) })
      await ask(model, 'root ::= "a"')
      await ask(model, `root ::= "${"a".repeat(3000)}"`)
    }
    expect(readFileSync(file, "utf8").length).toBeLessThan(2000)
    const model = await recording(file)
    expect((await ask(model, `root ::= "${"a".repeat(3000)}"`)).text).toBe("2")
    expect(await messageOf(ask(model, 'root ::= "b"'))).toContain('grammar:\n  -root ::= "a"\n  +root ::= "b"')
  })

  test("a request more, and one less", async () => {
    const { file } = place()
    await record(file)
    const model = await recording(file)
    expect(() => model.done()).toThrow(
      "2 of 2 requests of weather.yaml were not made:\n- request 1: Coat in Oslo?\n- request 2: 4 °C in " +
        "Oslo\nTo record it",
    )
    await runAgent({ task: "Coat in Oslo?", tools: [weather], backend: model })
    expect(await messageOf(infer(model, { userPrompt: "And now?" }))).toMatch(
      /^RECORDING_EXHAUSTED: The model was asked 3 times, but weather\.yaml has 2 requests\..*\nIt was shown last: And now\?$/,
    )
    expect(() => model.done()).toThrow("The model was asked 3 times")
  })

  test("a model that failed: the old recording stays", async () => {
    const { file } = place()
    await record(file)
    const before = readFileSync(file, "utf8")
    expect(await messageOf(record(file, [{ fail: { code: "MODEL_UNREACHABLE", message: "nobody at home" } }]))).toBe(
      "RECORDING_FAILED: weather.yaml was not written, since the model failed: MODEL_UNREACHABLE: nobody at home",
    )
    expect(readFileSync(file, "utf8")).toBe(before)
  })

  test("a request that the server refused is kept where the agent made it otherwise", async () => {
    const { file } = place()
    await record(file, [
      {
        fail: {
          code: "MODEL_REQUEST_REJECTED",
          message: "tools are not supported, says sk-proj-abcdefghijklmnop1234567890",
        },
      },
      "Take a coat.",
    ])
    expect(readFileSync(file, "utf8")).toContain("message: tools are not supported, says [secret]")
    expect((await run(file)).text).toBe("Take a coat.")
  })

  test("a file that is no recording", async () => {
    const { file, folder } = place()
    folder.write("fixtures/weather.yaml", "steps:\n  - replay: x\n")
    expect(await messageOf(run(file))).toMatch(
      /^RECORDING_INVALID: The recording cannot be used: .*weather\.yaml:2:5: steps\.0 needs 'reply'/,
    )
  })
})

describe("what must not be in the file is not", () => {
  const key = "sk-proj-abcdefghijklmnop1234567890"
  const forms = [
    key,
    "ghp_abcdefghijklmnopqrstuvwxyz123456",
    "AKIAABCDEFGHIJKLMNOP",
    "postgres://me:hunter22@db.example/x",
    "Authorization: Bearer abcdef1234567890abcdef",
  ]

  test.each(forms)("%s, wherever it stands, and the replay is none the wiser", async (secret) => {
    const { file } = place()
    const said: ScriptedReply[] = [
      {
        text: `With ${secret} I look.`,
        reasoning: secret,
        call: "get_weather",
        arguments: { city: secret, [secret]: 1 },
        wrong: true,
      },
      `${secret}.`,
    ]
    await record(file, said, {}, `Use ${secret}`)
    const value = secret.replace(/^.*(Bearer |me:)|@db.*$/g, "")
    expect(readFileSync(file, "utf8")).not.toContain(value)
    const again = await run(file, { ignore: [] }, `Use ${secret}`).catch((error: unknown) => error)
    expect(again).toMatchObject({ outcome: "completed", text: expect.stringContaining("[secret]") })
  })

  test("what a variable holds, and what the test names", async () => {
    vi.stubEnv("WEATHER_API_KEY", "correct-horse-42")
    vi.stubEnv("DB_PASSWORD", "postgres")
    const { file } = place()
    const options = { secrets: ["Rumpelstilzchen"] }
    await record(
      file,
      ["correct-horse-42 is Rumpelstilzchen's"],
      options,
      "postgres, correct-horse-42, Rumpelstilzchen",
    )
    const text = readFileSync(file, "utf8")
    expect(text).toContain("content: postgres, [secret], [secret]")
    expect(text).not.toMatch(/correct-horse|Rumpel/)
  })

  test("the workspace's path, which is another in each run and comes back in replies", async () => {
    const { file } = place()
    const once = async (backend: Backend, project: TestWorkspace) =>
      runAgent({ task: `Read ${project.path}/a.txt`, backend, workspace: project })
    const project = () => {
      const made = workspace({ files: { "a.txt": "hello" } })
      onTestFinished(() => made.remove())
      return made
    }
    const first = project()
    const real = scripted([
      { call: "file_read", arguments: { path: join(first.path, "a.txt") } },
      `It is in ${first.path}.`,
    ])
    await once(await recording(file, { update: true, backend: real, workspace: first }), first)
    expect(readFileSync(file, "utf8")).not.toContain(first.path)
    const second = project()
    const played = await once(await recording(file, { workspace: second }), second)
    expect([played.text, played.calls[0]!.succeeded]).toEqual([`It is in ${second.path}.`, true])
    writeFileSync(join(second.path, "a.txt"), "bye")
    expect(await messageOf(once(await recording(file, { workspace: second }), second))).toMatch(/-.*hello\n\s+\+.*bye/)
  })

  test("what differs from run to run, as far as the test says how", async () => {
    const { file } = place()
    const stable = (text: string) => text.replaceAll(/\d\d:\d\d/g, "HH:MM")
    await record(file, ["Late."], { stable }, "It is 12:34")
    expect((await run(file, { stable }, "It is 09:15")).text).toBe("Late.")
    expect(await messageOf(run(file, {}, "It is 09:15"))).toContain("  -It is HH:MM\n  +It is 09:15")
    expect(await messageOf(recording(file, { names: { secret: "x" } }))).toContain(
      "'secret' is no name for a recording",
    )
  })
})
