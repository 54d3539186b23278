import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createScriptedBackend, POCKET_TOOLS, type Backend, type ScreenplayStep } from "@toolwright/backends"
import { defineTool, type RunEvent } from "@toolwright/toolbox"
import { afterEach, describe, expect, onTestFinished, test } from "vitest"
import { createToolwright, type Toolwright, type ToolwrightOptions } from "../toolwright.ts"

const open: Toolwright[] = []
afterEach(async () => {
  for (const toolwright of open.splice(0)) await toolwright.close()
})

async function assembled(options: ToolwrightOptions = {}): Promise<Toolwright & { folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-pocket-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, "a.txt"), "one\ntwo\nthree\n")
  const toolwright = await createToolwright({
    withBuiltins: true,
    cwd: folder,
    env: { PATH: process.env["PATH"] },
    record: false,
    ...options,
  })
  open.push(toolwright)
  return Object.assign(toolwright, { folder })
}

async function events(toolwright: Toolwright, task: string, agent = "assistant"): Promise<RunEvent[]> {
  const all: RunEvent[] = []
  for await (const event of toolwright.run(task, { agent })) all.push(event)
  return all
}

/** The pocket model's place taken by replies that are known beforehand, so that what stands around it can be tested. */
function asPocket(...replies: string[]): Backend {
  const steps: ScreenplayStep[] = replies.map((reply) => ({ reply: { text: reply } }))
  return createScriptedBackend({ model: "toolwright-pocket", abilities: { nativeTools: false }, steps })
}

const call = (name: string, args: object) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`
const ended = (all: RunEvent[]) => all.flatMap((event) => (event.type === "tool-end" ? [event] : []))

describe("nothing configured", () => {
  test("a plain request is done by the pocket model, with its tools alone", async () => {
    const toolwright = await assembled()
    expect(toolwright.pairing?.backend).toBe("pocket")
    const all = await events(toolwright, "show me the first 2 lines of a.txt")
    expect(all[0]).toMatchObject({
      type: "run-start",
      model: "toolwright-pocket",
      format: "hermes",
      tools: POCKET_TOOLS,
      unavailable: [],
    })
    expect(ended(all)).toMatchObject([{ name: "read_text_file", result: { success: true, output: "one\ntwo\n" } }])
    expect(all.at(-1)).toMatchObject({ type: "run-end", summary: { success: true, calls: 1 } })
    const requests = all.flatMap((event) => (event.type === "request" ? [event] : []))
    expect(requests.map(({ delivery }) => delivery)).toEqual(["grammar", "grammar"])
    expect(requests[0]!.messages.slice(0, 2)).toEqual([
      { role: "system", content: "" },
      { role: "user", content: "show me the first 2 lines of a.txt" },
    ])
    // Arguments are held to the request, and commands to the request or some that are usual.
    expect(requests[0]!.grammar).toMatch(/txt[^]*uname|uname[^]*txt/)
  })

  test.each([
    ["write me a poem", "I can't"],
    ["alphabetize todo.txt", "I am not sure what you mean"],
    ["undo that", "`toolwright undo`"],
    ["Oops, please take the last change to a.txt back!", "`toolwright undo`"],
    ["could you revert a.txt", "`toolwright undo`"],
    ["restore a.txt", "`toolwright undo`"],
  ])("a request that is declined is no success: %s", async (task, words) => {
    const all = await events(await assembled(), task)
    expect(ended(all)).toEqual([])
    expect(all.at(-1)).toMatchObject({
      type: "run-end",
      summary: { outcome: "nothing-done", success: false, calls: 0, message: expect.stringContaining(words) },
    })
  })

  test("a reading that takes away what is there says so, since by hand nothing is asked", async () => {
    const toolwright = await assembled()
    writeFileSync(join(toolwright.folder, "shopping.txt"), "milk\nbread\n")
    const said = async (task: string) => {
      const end = (await events(toolwright, task)).at(-1)
      return end?.type === "run-end" ? end.summary.message : ""
    }
    expect(await said("remove the line rum from shopping.txt")).toContain(
      'delete_file path="shopping.txt" (the whole file goes)',
    )
    // Behind what the file holds first, then under a free name, and over what is there last.
    for (const eggs of ["eggs", "'eggs'"]) {
      const put = await said(`put ${eggs} in shopping.txt`)
      expect(put).toContain('mean: append_file path="shopping.txt" content="eggs", or: ')
      expect(put).toContain('or: write_file path="shopping-2.txt" content="eggs", or: ')
      expect(put).toContain('or: write_file path="shopping.txt" content="eggs" (what the file holds now goes)? Put')
    }
    // Of two readings the one that takes nothing away is named first, though the model held the other for likelier.
    expect(await said("add a second line 'ciao' to shopping.txt")).toMatch(/append_file .*, or: write_file .*goes\)/)
    expect(await said("add eggs to shopping2.txt")).not.toContain("goes)")
  })

  test("a search in a folder that it would decline is asked about, and one in a place that is not there is declined", async () => {
    const toolwright = await assembled()
    mkdirSync(join(toolwright.folder, "recipes"))
    const said = async (task: string) => {
      const end = (await events(toolwright, task)).at(-1)
      return end?.type === "run-end" ? [end.summary.outcome, end.summary.message] : []
    }
    expect(await said("find TODO in recipes")).toEqual([
      "nothing-done",
      expect.stringContaining('search_grep pattern="TODO" path="recipes"'),
    ])
    expect(await said("find TODO in elsewhere")).toEqual(["nothing-done", expect.stringContaining("I can't")])
  })

  test.each([
    ["find two in .", 'search_grep pattern="two" path="."'],
    ["Please add eggs to a.txt", 'append_file path="a.txt" content="eggs"'],
    ["append oat milk to the end of the file a.txt.", 'append_file path="a.txt" content="oat milk"'],
    ["insert four before line 2 in a.txt", 'insert_lines path="a.txt" before_line=2 content="four"'],
  ])("a request of a plain shape that it misreads is asked about as it was meant, first: %s", async (task, reading) => {
    const toolwright = await assembled()
    const all = await events(toolwright, task)
    expect(ended(all)).toEqual([])
    const end = all.at(-1)
    expect(end?.type === "run-end" && end.summary.message).toContain(`Did you mean: ${reading}`)
    expect(readFileSync(join(toolwright.folder, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n")
  })

  test.each([
    ["append 'oat milk' to the end of the file a.txt.", "one\ntwo\nthree\noat milk\n"],
    ['insert "four" after line 1 of a.txt', "one\nfour\ntwo\nthree\n"],
  ])("one with what is to be written in quotes is done to the letter: %s", async (task, content) => {
    const toolwright = await assembled()
    expect(ended(await events(toolwright, task))).toMatchObject([{ result: { success: true } }])
    expect(readFileSync(join(toolwright.folder, "a.txt"), "utf8")).toBe(content)
  })

  test.each(["sort a.txt", "please merge a.txt and b.txt", "count the words in a.txt"])(
    "what it has no tool for is said, and nothing is offered: %s",
    async (request) => {
      const toolwright = await assembled()
      const all = await events(toolwright, request)
      expect(ended(all)).toEqual([])
      const [reply] = all.flatMap((event) => (event.type === "reply" ? [event.content] : []))
      expect(reply).toMatch(/^I can't (sort|merge|count the words): no tool of mine does that\./)
    },
  )

  test("what a request takes back is told by how it begins, not by a word in it", async () => {
    const toolwright = await assembled()
    writeFileSync(join(toolwright.folder, "undo.txt"), "one\n")
    for (const task of [
      "find undo in a.txt",
      "take hello and say it back",
      "read undo.txt",
      'put "take it back" in b.txt',
    ])
      expect([task, toolwright.pairing!.words.beyond(task)]).toEqual([task, undefined])
    expect(ended(await events(toolwright, "read undo.txt"))).toMatchObject([{ result: { success: true } }])
  })

  test("a request that is declined in part is not simply complete", async () => {
    const scripted = asPocket(
      call("create_directory", { path: "b" }),
      "Created b. What else you asked for is beyond me.",
    )
    const declining: Backend = {
      ...scripted,
      async *infer(request, options) {
        for await (const event of scripted.infer(request, options))
          yield event.type === "end" && request.messages.length > 2 ? { ...event, declined: true } : event
      },
    }
    const toolwright = await assembled({ backend: declining })
    expect((await events(toolwright, "create a folder b and dance")).at(-1)).toMatchObject({
      summary: { outcome: "completed-with-failures", success: false, calls: 1, notes: [{ code: "DECLINED" }] },
    })
    expect(existsSync(join(toolwright.folder, "b"))).toBe(true)
  })

  test("tools of one's own alone need a model, and so does the logit tool", async () => {
    const forecast = defineTool({
      name: "forecast",
      description: "",
      parameters: { type: "object" },
      execute: () => "rain",
    })
    await expect(events(await assembled({ withBuiltins: false, tools: [forecast] }), "rain?")).rejects.toMatchObject({
      code: "NO_MODEL",
      hint: expect.stringMatching(/model\.baseUrl: http:\/\/localhost:11434\/v1[^]*\{ builtins: \{\} \}/),
    })
    const logit = await (await assembled()).registry.execute("logit", { operation: "generate", prompt: "x" })
    expect(logit.error).toMatchObject({ code: "NO_MODEL" })
  })

  test("agents that write code need a model, and are offered their own tools", async () => {
    const toolwright = await assembled()
    for (const agent of ["builder", "debugger", "reviewer", "triager"]) {
      await expect(events(toolwright, "fix it", agent)).rejects.toMatchObject({
        code: "NO_MODEL",
        message: expect.stringContaining(`'${agent}' needs a real model`),
        hint: expect.stringContaining("`model.baseUrl: "),
      })
    }
    await expect(toolwright.fileOwner("a", ["a.txt"])).rejects.toMatchObject({ code: "NO_MODEL" })
    const names = (agent: string) =>
      toolwright
        .toolsFor(agent)
        .list()
        .map(({ name }) => name)
    expect(names("assistant")).toEqual(POCKET_TOOLS)
    expect(names("builder")).toContain("code_edit_edit_lines")
  })

  test("a configured model is taken instead, and the pocket model by its name", async () => {
    expect((await assembled({ model: { name: "m", baseUrl: "http://127.0.0.1:1/v1" } })).pairing).toBe(undefined)
    const chosen = await assembled({ model: { backend: "pocket", name: "m", baseUrl: "http://127.0.0.1:1/v1" } })
    expect([chosen.pairing?.backend, (await chosen.backend()).modelName()]).toEqual(["pocket", "toolwright-pocket"])
  })
})

describe("what the pocket model may do", () => {
  const risky = [
    call("delete_file", { path: "a.txt" }),
    call("move_file", { source: "a.txt", destination: "b.txt" }),
    call("bash", { command: "rm a.txt" }),
    call("test", {}),
    call("write_file", { path: "a.txt", content: "x" }),
  ]

  test("deleting, moving, commands, tests and writing over a file are refused where nobody can be asked", async () => {
    const toolwright = await assembled({ backend: asPocket(...risky, "Sorry.") })
    const results = ended(await events(toolwright, "get rid of a.txt"))
    expect(results.map(({ name }) => name)).toEqual(["delete_file", "move_file", "bash", "test", "write_file"])
    for (const { result } of results)
      expect(result).toMatchObject({
        success: false,
        error: { code: "PERMISSION_DENIED" },
        metadata: { permission: "ask" },
      })
    expect(readFileSync(join(toolwright.folder, "a.txt"), "utf8")).toContain("one")
  })

  test("they run when they are approved, or allowed by the configuration", async () => {
    const asked: string[] = []
    const approve = async ({ tool }: { tool: { name: string } }) => asked.push(tool.name) > 0
    const approving = await assembled({ backend: asPocket(risky[0]!, "Done."), approve })
    expect(ended(await events(approving, "delete a.txt"))).toMatchObject([{ result: { success: true } }])
    expect([asked, existsSync(join(approving.folder, "a.txt"))]).toEqual([["delete_file"], false])
    const allowing = await assembled({ backend: asPocket(risky[1]!, "Done."), permissions: { allow: ["move_*"] } })
    expect(ended(await events(allowing, "move a.txt"))).toMatchObject([{ result: { success: true } }])
  })

  test("what is denied stays denied, and other surfaces are not asked on its account", async () => {
    const denying = await assembled({
      backend: asPocket(risky[0]!, "Sorry."),
      permissions: { allow: ["*"], deny: ["delete_file"] },
    })
    expect(ended(await events(denying, "delete a.txt"))[0]?.result.error?.message).toContain("not permitted")
    expect((await assembled()).permissions?.rules ?? []).toEqual([])
  })

  test("a tool that is not there says so, and no other is taken for it", async () => {
    const toolwright = await assembled({
      backend: asPocket(call("write_file", { path: "b.txt", content: "x" }), "Sorry."),
      workspace: { readOnly: ["."] },
    })
    const all = await events(toolwright, "write x to b.txt")
    expect(all[0]).toMatchObject({ type: "run-start", tools: expect.arrayContaining(["write_file", "read_text_file"]) })
    expect(ended(all)).toMatchObject([{ result: { success: false, error: { code: "TOOL_NOT_AVAILABLE" } } }])
    expect(existsSync(join(toolwright.folder, "b.txt"))).toBe(false)
  })

  test("an agent that only reads has none of its tools that write", async () => {
    const toolwright = await assembled({
      backend: asPocket(call("write_file", { path: "b.txt", content: "x" }), "Sorry."),
      agents: { define: { explainer: { mode: "reads", prompt: "You explain." } } },
      permissions: { allow: ["*"] },
    })
    const all = await events(toolwright, "write x to b.txt", "explainer")
    expect(ended(all)).toMatchObject([{ result: { success: false, error: { code: "TOOL_NOT_AVAILABLE" } } }])
    expect(existsSync(join(toolwright.folder, "b.txt"))).toBe(false)
  })

  test("a commit that leaves out what lay there before names the command that takes it in", async () => {
    const toolwright = await assembled({ backend: asPocket(call("git_commit", { message: "Add" }), "Sorry.") })
    execFileSync("git", ["init", "-q"], { cwd: toolwright.folder })
    writeFileSync(join(toolwright.folder, "it's new.txt"), "new\n")
    const [committed] = ended(await events(toolwright, "commit everything"))
    expect(committed!.result.output).toContain(`git add a.txt 'it'\\''s new.txt'`)
  })

  test("the same call with the same result again ends a run", async () => {
    const toolwright = await assembled({
      backend: asPocket(call("list_directory", { path: "." }), call("list_directory", { path: "." }), "Never said."),
    })
    expect((await events(toolwright, "list it")).at(-1)).toMatchObject({ summary: { outcome: "stuck", calls: 2 } })
  })

  test("a run that goes in circles ends soon", async () => {
    const toolwright = await assembled({
      backend: asPocket(...Array.from({ length: 20 }, (_, index) => call("echo", { message: String(index) }))),
    })
    expect((await events(toolwright, "say it")).at(-1)).toMatchObject({ summary: { outcome: "max-rounds", rounds: 8 } })
  })
})
