import { readFileSync } from "node:fs"
import { join } from "node:path"
import {
  createOpenAICompatibleBackend,
  createScriptedBackend,
  loadScreenplay,
  serveBackend,
  type Backend,
} from "@toolwright/backends"
import type { RunEvent, RunSummary } from "@toolwright/toolbox"
import { getFormatter } from "@toolwright/toolformat"
import { describe, expect, test } from "vitest"
import { FIX_ADD, repositoryWith } from "../testing/repository.ts"
import { createToolwright } from "../toolwright.ts"

const SCREENPLAY = join(import.meta.dirname, "fixtures/fix-add-qwen.yaml")

async function build(path: string, backend: Backend): Promise<{ summary: RunSummary; events: RunEvent[] }> {
  await using toolwright = await createToolwright({ backend, cwd: path, workspace: { roots: [path] } })
  const events: RunEvent[] = []
  const run = toolwright.run("fix add()", { agent: "builder" })
  let step = await run.next()
  while (!step.done) {
    events.push(step.value)
    step = await run.next()
  }
  return { summary: step.value, events }
}

function expectFixed(
  repo: { path: string; git(...args: string[]): string },
  { summary, events }: { summary: RunSummary; events: RunEvent[] },
) {
  expect(summary, summary.message).toMatchObject({ outcome: "completed", success: true })
  expect(summary.rounds).toBeLessThanOrEqual(20)
  expect(repo.git("log", "--format=%s")).toBe("Fix add()\nBegin")
  expect(repo.git("diff", "HEAD~1", "--stat", "--", "src")).toContain("1 file changed, 1 insertion(+), 1 deletion(-)")
  expect(readFileSync(join(repo.path, "notes.json"), "utf8")).toBe(
    '{"call": {"end": "}</tool_call>", "nested": {"a": [1, {"b": "}"}]}}}\n',
  )
  const failed = events.flatMap((event) =>
    event.type === "tool-end" && !event.result.success ? [event.result.error?.code] : [],
  )
  expect(failed.slice(0, 2)).toEqual(["UNKNOWN_TOOL", "INVALID_ARGUMENTS"])
}

describe("a builder that speaks Qwen's format", () => {
  test("finds, mends, tests and commits, and learns from three wrong calls", async () => {
    using repo = repositoryWith(FIX_ADD)
    const backend = createScriptedBackend(await loadScreenplay(SCREENPLAY))
    const run = await build(repo.path, backend)
    expectFixed(repo, run)
    expect(backend.remaining).toBe(0)
    const names = run.events.flatMap((event) => (event.type === "tool-end" ? [event.name] : []))
    expect(names).toEqual(["grep", "search", "search", "file", "test", "code_edit", "file", "test", "git"])
  })

  test.each([
    ["written as text", { nativeTools: false }],
    ["through the server's own tool use", { nativeTools: true }],
  ])("does the same over HTTP, %s, with deltas cut at awkward places", async (_name, abilities) => {
    using repo = repositoryWith(FIX_ADD)
    const script = await loadScreenplay(SCREENPLAY)
    const played = createScriptedBackend(abilities.nativeTools ? natively(script) : script, { abilities })
    await using server = await serveBackend(played, { cutBytes: 7 })
    const backend = createOpenAICompatibleBackend({ baseUrl: server.baseUrl, modelName: "qwen2.5-coder:7b", abilities })
    const run = await build(repo.path, backend)
    expectFixed(repo, run)
    expect(played.requests[0]?.tools === undefined).toBe(!abilities.nativeTools)
  })

  test("that never finishes ends after exactly twenty inferences", async () => {
    using repo = repositoryWith(FIX_ADD)
    const reply =
      `<tool_call>\n{"name": "file", "arguments": {"action": "append", "path": "log.txt", "content": "x"}}\n` +
      "</tool_call>"
    const backend = createScriptedBackend({
      model: "qwen2.5",
      abilities: { nativeTools: false },
      steps: [{ reply, repeat: "always" }],
    })
    const { summary } = await build(repo.path, backend)
    expect(backend.requests).toHaveLength(20)
    expect(summary).toMatchObject({ outcome: "max-rounds", success: false, message: "max rounds reached" })
  })
})

/** The same play with the calls that its texts hold made natively. */
function natively(script: Awaited<ReturnType<typeof loadScreenplay>>): typeof script {
  const formatter = getFormatter("qwen2.5")
  const steps = script.steps.map((step) => {
    const { calls, content } = formatter.parse(String(step.reply))
    const {
      tools: _tools,
      system: _system,
      ...expectation
    } = (step.expect ?? {}) as { tools?: unknown; system?: unknown }
    return calls.length === 0
      ? { ...step, expect: expectation }
      : {
          ...step,
          expect: expectation,
          reply: { text: content, calls: calls.map(({ name, arguments: args }) => ({ name, arguments: args })) },
        }
  })
  return { ...script, steps }
}
