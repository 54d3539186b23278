import { success, failure, type ToolResult } from "@toolwright/toolbox"
import { ABOUT, type ChatMessage } from "@toolwright/toolformat"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { compactingContext } from "./compaction.ts"
import { CONTEXT_STRATEGIES, type ContextUse } from "./manager.ts"

interface Round {
  said: string
  calls: { tool: string; fails: boolean; changes: boolean; size: number }[]
}

const system: ChatMessage = { role: "system", content: "You work." }
const TASK = "Do all of this."

function messagesOf(rounds: readonly Round[]): { messages: ChatMessage[]; changed: string[] } {
  const changed: string[] = []
  const messages: ChatMessage[] = [system, { role: "user", content: TASK }]
  for (const [at, { said, calls }] of rounds.entries()) {
    const toolCalls = calls.map(({ tool }, index) => ({ id: `c${at}-${index}`, name: tool, arguments: { at } }))
    messages.push({ role: "assistant", content: said === "" ? "" : `decided ${at} ${said}`, toolCalls })
    for (const [index, { tool, fails, changes, size }] of calls.entries()) {
      const file = `src/file${at}-${index}.ts`
      if (changes && !fails) changed.push(file)
      const wrote = changes && !fails ? ` wrote ${file}` : ""
      const output = `${fails ? "broken" : "fine"} ${at}-${index}${wrote} ${"x".repeat(size)}`
      const parts = { output, modifiedFiles: changes && !fails ? [file] : [] }
      const result: ToolResult = fails ? failure({ ...parts, code: "NO", message: "no" }) : success(parts)
      const call = toolCalls[index]!
      const about = { kind: "results", results: [{ call, result }] } as const
      messages.push({ role: "tool", content: output, callId: call.id, name: tool, success: !fails, [ABOUT]: about })
    }
  }
  return { messages, changed }
}

const round = fc.record({
  said: fc.constantFrom("", "", "that it is so"),
  calls: fc.array(
    fc.record({
      tool: fc.constantFrom("look", "test", "write"),
      fails: fc.boolean(),
      changes: fc.boolean(),
      size: fc.integer({ min: 0, max: 1500 }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
})

/** Failures that stand, and the last thing that was said. */
function mustSurvive(messages: readonly ChatMessage[]): string[] {
  const last = new Map<string, ChatMessage & { role: "tool" }>()
  for (const message of messages) if (message.role === "tool") last.set(message.name, message)
  const failing = [...last.values()].filter(({ success: ok }) => !ok).map(({ content }) => content.slice(0, 10).trim())
  const said = messages.findLast(({ role, content }) => role === "assistant" && content !== "")
  return [...failing, ...(said === undefined ? [] : [said.content.slice(0, 10).trim()])]
}

describe.each(CONTEXT_STRATEGIES)("what the strategy %s sends", (strategy) => {
  test("fits the window, keeps system and task, order and pairs, and what must not be lost", () => {
    fc.assert(
      fc.property(
        fc.array(round, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 2500, max: 9000 }),
        (rounds, contextTokens) => {
          const { messages, changed } = messagesOf(rounds)
          let use: ContextUse | undefined
          const changedFiles = changed.slice(-5)
          const sent = compactingContext({ contextTokens, strategy }).prepare(messages, {
            task: TASK,
            changedFiles,
            report: (told) => (use = told),
          })
          const text = sent.map(({ content }) => content).join("\n")
          expect(use!.tokens).toBeLessThanOrEqual(contextTokens)
          expect(sent[0]).toBe(system)
          expect(sent[1]).toBe(messages[1])
          const calls = sent.flatMap((each) =>
            each.role === "assistant" ? (each.toolCalls ?? []).map(({ id }) => id) : [],
          )
          expect(sent.flatMap((each) => (each.role === "tool" ? [each.callId] : []))).toEqual(calls)
          const places = sent.map((each) => messages.indexOf(each)).filter((at) => at >= 0)
          expect(places).toEqual(places.toSorted((a, b) => a - b))
          if (sent === messages) return
          for (const what of mustSurvive(messages)) expect(text).toContain(what)
          for (const file of changedFiles) expect(text).toContain(file)
        },
      ),
      { numRuns: 300 },
    )
  })
})

/** Rounds of one size, of which the third changed a file and the others only looked. */
function work(count: number): Round[] {
  const call = (changes: boolean) => ({ tool: changes ? "write" : "look", fails: false, changes, size: 800 })
  return Array.from({ length: count }, (_, at) => ({ said: "", calls: [call(at === 2)] }))
}

const placesIn = (sent: readonly ChatMessage[]): number[] =>
  sent.flatMap((each) => (each.role === "tool" ? [Number(/c(\d+)-/.exec(each.callId)![1])] : []))

test("'last' keeps as many as fit, 'priority' keeps what changed something before what only looked", () => {
  const { messages } = messagesOf(work(40))
  const sent = (strategy: (typeof CONTEXT_STRATEGIES)[number], keepRounds?: number) =>
    placesIn(
      compactingContext({ contextTokens: 4000, strategy, ...(keepRounds === undefined ? {} : { keepRounds }) }).prepare(
        messages,
        { task: TASK },
      ),
    )
  expect(sent("summary")).toEqual([37, 38, 39])
  expect(sent("last").length).toBeGreaterThan(8)
  expect(sent("last")).toEqual(sent("last").toSorted((a, b) => a - b))
  expect(sent("last").at(-1)).toBe(39)
  expect(sent("last", 2)).toEqual([38, 39])
  expect(sent("priority")).toEqual(expect.arrayContaining([2, 37, 38, 39]))
  expect(sent("priority")[0]).toBe(2)
})

test("a failure that was mended in a round which is kept is not told as standing", () => {
  const call = (fails: boolean) => ({ tool: "test", fails, changes: false, size: 900 })
  const rounds: Round[] = [{ said: "", calls: [call(true)] }, ...work(30), { said: "", calls: [call(false)] }]
  const { messages } = messagesOf(rounds)
  for (const strategy of CONTEXT_STRATEGIES) {
    const sent = compactingContext({ contextTokens: 3000, strategy }).prepare(messages, { task: TASK })
    expect(sent.map(({ content }) => content).join("\n")).not.toContain("Still failing")
  }
})

describe.each(CONTEXT_STRATEGIES)("the strategy %s tells of a failure", (strategy) => {
  const told = (...calls: { args: Record<string, string>; fails?: boolean; wrote?: string; name?: string }[]) => {
    const messages: ChatMessage[] = [system, { role: "user", content: TASK }]
    const all = [...calls, ...Array.from({ length: 20 }, (_, at) => ({ args: { action: "list", path: `d${at}` } }))]
    for (const [at, each] of all.entries()) {
      const { args, fails = false, wrote, name = "file" }: (typeof calls)[number] = each
      const call = { id: `c${at}`, name, arguments: args }
      const output = fails ? "It is not there." : "x".repeat(900)
      const modifiedFiles = wrote === undefined ? [] : [wrote]
      const result = fails ? failure({ output, code: "NO", message: output }) : success({ output, modifiedFiles })
      messages.push({ role: "assistant", content: "", toolCalls: [call] })
      const about = { kind: "results", results: [{ call, result }] } as const
      messages.push({ role: "tool", content: output, callId: call.id, name, success: !fails, [ABOUT]: about })
    }
    const sent = compactingContext({ contextTokens: 2500, strategy }).prepare(messages, { task: TASK })
    expect(sent.length).toBeLessThan(messages.length)
    const told = sent.some(({ content }) => /Still failing[^]*It is not there\./.test(content))
    // A strategy may keep the round itself.
    return { told, sent: told || sent.some(({ role, content }) => role === "tool" && content === "It is not there.") }
  }
  const deletion = { args: { action: "delete", path: "a.txt" }, fails: true }
  const edit = { args: { action: "replace", path: "./a.txt" }, fails: true }

  test("that something else of the same tool does not mend", () => {
    expect(told(deletion).sent).toBe(true)
    expect(told(edit, { args: { action: "read", path: "a.txt" } }).sent).toBe(true)
    const program = (command: string) => ({ args: { command }, name: "bash" })
    expect(told({ ...program("npm test"), fails: true }, program("ls")).sent).toBe(true)
  })

  test("until the same succeeded, or the file was written in another way", () => {
    expect(told(deletion, { ...deletion, fails: false }).told).toBe(false)
    expect(told(edit, { args: { path: "a.txt" }, name: "write_file", wrote: "/work/a.txt" }).told).toBe(false)
  })
})
