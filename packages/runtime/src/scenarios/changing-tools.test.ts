import { createScriptedBackend } from "@toolwright/backends"
import { defineTool, type RunEvent, type RunSummary } from "@toolwright/toolbox"
import { expect, onTestFinished, test } from "vitest"
import { onBothDatabases } from "../../../store/src/testing/databases.ts"
import { createToolwright } from "../toolwright.ts"

const call = (name: string) => ({ name, arguments: {} })

function reads(name: string, execute: () => string) {
  return defineTool({ name, description: name, parameters: { type: "object" }, effects: { readOnly: true }, execute })
}

onBothDatabases("tools that change while a run is under way", (address) => {
  test("are what the next request offers; a running call ends, a late one is told, and another run keeps its own", async () => {
    const backend = createScriptedBackend({
      model: "qwen2.5-7b-instruct",
      abilities: { nativeTools: true },
      steps: [
        { expect: { tools: { include: ["search", "file"] } }, reply: { calls: [call("file")] } },
        { reply: { calls: [call("search")] } },
        {
          expect: { result: "found it", tools: { include: ["word_count", "file"], exclude: ["search"] } },
          reply: { calls: [call("search"), call("word_count")] },
        },
        { expect: { result: "four words" }, reply: "Four." },
        {
          expect: { tools: { include: ["file"], exclude: ["search", "word_count"] } },
          reply: { calls: [call("file")] },
        },
        { expect: { tools: { include: ["file"], exclude: ["search", "word_count"] } }, reply: "Read." },
      ],
    })
    const search = reads("search", () => {
      // Somebody takes it away while it runs, and brings another.
      toolwright.registry.unregister("search")
      toolwright.registry.register(reads("word_count", () => "four words"))
      return "found it"
    })
    const made = { backend, runs: { database: address() }, tools: [search, reads("file", () => "a file")] }
    const toolwright = await createToolwright(made)
    onTestFinished(() => toolwright.close())

    const { events, summary } = await ended(toolwright.run("count the words", { runId: "changing" }))
    expect(summary).toMatchObject({ outcome: "completed-with-failures", calls: 4, failedCalls: 1 })
    expect(events).toContainEqual({ type: "tools-changed", added: ["word_count"], removed: ["search"] })
    const results = events.flatMap((event) => (event.type === "tool-end" ? [[event.name, event.result.success]] : []))
    expect(results).toEqual([
      ["file", true],
      ["search", true],
      ["search", false],
      ["word_count", true],
    ])
    const late = events.find((event) => event.type === "tool-end" && !event.result.success)
    expect(JSON.stringify(late)).toContain("The tool 'search' is no longer available.")
    // The log says the same.
    const types = (await toolwright.readRun("changing")).events.map(({ type }) => type)
    expect(types.filter((type) => type === "tools-changed")).toHaveLength(1)

    // A run with tools of its own sees none of that.
    const other = await ended(toolwright.run("read the file", { runId: "own", tools: ["file"] }))
    expect(other.events.filter(({ type }) => type === "tools-changed")).toEqual([])
    expect(other.summary).toMatchObject({ success: true, calls: 1 })
    expect(backend.remaining).toBe(0)
  })
})

async function ended(run: AsyncGenerator<RunEvent, RunSummary>) {
  const events: RunEvent[] = []
  for (;;) {
    const step = await run.next()
    if (step.done) return { events, summary: step.value }
    events.push(step.value)
  }
}
