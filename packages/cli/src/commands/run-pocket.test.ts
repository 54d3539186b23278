import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { RunEvent } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { cli, folderWith } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

const NOTICE =
  /^No model is configured: the built-in pocket model answers .*--model NAME --base-url URL.*toolwright\.yaml\.\n/

describe("toolwright run without a configured model", () => {
  test("says who answers, shows the result and a sentence after it", async () => {
    const cwd = folderWith({ "a.txt": "hello\nyou\n" })
    const { code, stdout, stderr } = await cli(["run", "read a.txt"], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(NOTICE) as string })
    expect(stderr.match(/\n/g)).toHaveLength(1)
    expect(stdout).toMatch(/^call read_text_file path=a\.txt\nhello\nyou\n\n[^\n]+\nrecord: .*\n$/)
    expect((await here(["runs"], { cwd })).stdout).toContain("read a.txt")
  })

  test("names the record that has the rest of a long result, where one is kept", async () => {
    const cwd = folderWith({ "a.txt": "line\n".repeat(250) })
    expect((await here(["run", "read a.txt"], { cwd })).stdout).toContain("\n[50 more lines; the record has them]\n")
    expect((await here(["run", "read a.txt", "--no-record"], { cwd })).stdout).toContain("\n[50 more lines]\n")
  })

  test("prints nothing but events as lines of JSON", async () => {
    const { stdout, stderr } = await here(["run", "read a.txt", "--json", "--no-record"], {
      cwd: folderWith({ "a.txt": "hello\n" }),
    })
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as RunEvent)
    expect(events.find((event) => event.type === "tool-end")).toMatchObject({
      name: "read_text_file",
      result: { output: "hello\n" },
    })
    expect(stderr).toMatch(NOTICE)
  })

  test("declines what it cannot do, with how to ask a real model", async () => {
    const { code, stdout, stderr } = await here(["run", "write me a poem", "--no-record"], { cwd: folderWith() })
    expect(code).toBe(1)
    expect(stdout).toMatch(/^[^\n]+\n$/)
    expect(stderr.replace(NOTICE, "")).toMatch(
      /^A real model .*--model qwen2\.5-coder:7b --base-url http:\/\/localhost:11434\/v1\n$/,
    )
  })

  test("says of a model that a file names, and may not yet, that it waits", async () => {
    const file = "model: { name: m, baseUrl: 'http://localhost:1/v1' }\n"
    const cwd = folderWith({ "toolwright.yaml": file, "a.txt": "hello\n" })
    const { code, stderr } = await here(["run", "read a.txt", "--no-record"], { cwd })
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/is not trusted.*\nThe model that toolwright\.yaml names waits for.*\n$/) as string,
    })
  })

  test("names the command that takes back what was changed", async () => {
    const { code, stdout } = await here(["run", "undo that", "--no-record"], { cwd: folderWith() })
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/^I can't take anything back, but `toolwright undo` [^\n]+\n$/),
    ])
  })

  test.each([
    ["make a backup of notes.md", "  toolwright tools call bash --command 'cp -R notes.md notes.md.bak'"],
    ["please empty notes.md", "  toolwright tools call write_file --path notes.md --content=''"],
    ["delete the folder old", "  toolwright tools call delete_directory --path old"],
    ["add butter to the list", 'Which list do you mean? Name its file, as in: add "butter" to list.txt'],
  ])("says of '%s' what can be done about it, and does nothing", async (request, said) => {
    const cwd = folderWith({ "notes.md": "# Notes\n", "old/a.txt": "x\n" })
    const { code, stdout } = await here(["run", request, "--no-record"], { cwd })
    expect([code, stdout.trimEnd().split("\n").at(-1)]).toEqual([1, said])
    expect(readFileSync(join(cwd, "notes.md"), "utf8")).toBe("# Notes\n")
    expect(existsSync(join(cwd, "old/a.txt"))).toBe(true)
  })

  test("answers a request that is too long without the model", async () => {
    const { code, stdout } = await here(["run", "list the files in src and then in lib ".repeat(50), "--no-record"], {
      cwd: folderWith(),
    })
    expect([code, stdout]).toEqual([1, expect.stringContaining("more than I can read")])
  })

  test("fails where a call fails", async () => {
    const { code, stdout } = await here(["run", "read b.txt", "--no-record"], { cwd: folderWith() })
    expect([code, stdout]).toEqual([1, expect.stringContaining("failed: File not found: b.txt")])
  })

  test("deletes nothing unasked, and says how to permit it", async () => {
    const cwd = folderWith({ "a.txt": "x" })
    const refused = await here(["run", "delete a.txt", "--no-record"], { cwd })
    expect([refused.code, refused.stdout]).toEqual([
      1,
      expect.stringContaining("not permitted: 'delete_file' needs approval, and nobody is there to give it.\n"),
    ])
    // The model's words name the cause, so no note names it again.
    expect(refused.stdout).toContain("Not done: 'delete_file' needs approval")
    expect(refused.stdout).not.toContain("was not put right")
    expect(refused.stderr).toContain("--allow-tool delete_file (or permissions.allow in toolwright.yaml)")
    expect(existsSync(join(cwd, "a.txt"))).toBe(true)
    expect(await here(["run", "delete a.txt", "--no-record", "--allow-tool", "delete_file"], { cwd })).toMatchObject({
      code: 0,
    })
    expect(existsSync(join(cwd, "a.txt"))).toBe(false)
    writeFileSync(join(cwd, "a.txt"), "x")
    writeFileSync(join(cwd, "toolwright.yaml"), "permissions:\n  allow: [delete_file]\n")
    expect(await here(["run", "delete a.txt", "--no-record", "--trust"], { cwd })).toMatchObject({ code: 0 })
  })

  test("is no builder", async () => {
    for (const args of [
      ["run", "add a function", "--agent", "builder"],
      ["build", "add a function"],
    ]) {
      const { code, stdout, stderr } = await here(args, { cwd: folderWith() })
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
      expect(stderr).toMatch(
        /^toolwright: The agent 'builder' needs a real model: the built-in pocket model only does plain requests, as 'assistant'\.\n.*\n {2}--model .* --base-url /,
      )
    }
  })

  test("is no owner of files", async () => {
    const cwd = folderWith()
    await here(["agents", "create", "Owner", "--file", "a.js"], { cwd })
    const { code, stderr } = await here(["run", "add a function", "--agent", "Owner"], { cwd })
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining("The agent 'Owner' needs a real model") as string,
    })
  })

  test("fails a task of such an agent without a run that is on no record, and says what to do", async () => {
    const cwd = folderWith()
    await here(["agents", "create", "Owner", "--file", "a.js"], { cwd })
    const id = (await here(["tasks", "add", "add a function", "--agent", "Owner"], { cwd })).stdout.trim()
    const { code, stdout } = await here(["work", "--once"], { cwd })
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringMatching(
        new RegExp(`'Owner' needs a real model.*--model NAME --base-url URL.*toolwright tasks retry ${id}\n$`),
      ) as string,
    })
    expect((await here(["tasks", "show", id], { cwd })).stdout).not.toContain("runs show")
  })

  test("runs nothing where its replies could not be kept", async () => {
    const { code, stdout, stderr } = await here(["run", "read a.txt", "--save-screenplay", "no/play.yaml"], {
      cwd: folderWith({ "a.txt": "hello\n" }),
    })
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(
        /^toolwright: --save-screenplay names a file in .*no, which is no folder that can be written to\.\nMake the folder/,
      ) as string,
    })
  })

  test("is taken by its name without a word, and its replies can be kept as a screenplay", async () => {
    const cwd = folderWith({ "a.txt": "hello\n" })
    const { code, stderr } = await here(
      ["run", "read a.txt", "--backend", "pocket", "--save-screenplay", "play.yaml", "--no-record"],
      { cwd },
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    const played = await here(["run", "read a.txt", "--screenplay", "play.yaml", "--no-record"], { cwd })
    expect(played).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^call read_text_file path=a\.txt\nhello\n\n/) as string,
      stderr: "",
    })
  })
})

test("needs no binary", async () => {
  const cwd = folderWith({ "a.txt": "hello\n" })
  const read = await cli(["run", "read a.txt"], { cwd, env: { NODE_OPTIONS: "--no-addons" } })
  expect(read).toMatchObject({ code: 0, stdout: expect.stringContaining("hello") as string })
})

describe("where the model cannot be found", () => {
  const broken = (): { cwd: string; env: Record<string, string> } => {
    const cwd = folderWith({
      "a.txt": "hello\n",
      "schema.json": '{"type":"object"}',
      "no-model.mjs":
        'import { registerHooks } from "node:module"\nregisterHooks({ resolve(name, context, next) { if (name' +
        '.startsWith("@toolwright/pocket/")) throw new Error("no model"); return next(name, context) } })\n',
    })
    return { cwd, env: { NODE_OPTIONS: `--import ${join(cwd, "no-model.mjs")}` } }
  }

  test("run says what to install, what else to do, and what works without", async () => {
    const { code, stdout, stderr } = await cli(["run", "read a.txt"], broken())
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toMatch(
      /^toolwright: No model is configured, and the built-in one cannot run: .*@toolwright\/pocket cannot be found\.\nInstall it: npm install @toolwright\/pocket\n[^]*--base-url[^]*Without any model work: toolwright tools call, format, grammar, serve, mcp, demo\.\n$/,
    )
    expect(await cli(["run", "read a.txt", "--backend", "pocket"], broken())).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("npm install @toolwright/pocket") as string,
    })
  })

  test.each([
    [["tools", "call", "read_text_file", "--path", "a.txt"], "hello"],
    [["format", "list"], "hermes"],
    [["grammar", "schema.json"], "root ::="],
    [["config"], "model"],
  ])("%j works", async (args, out) => {
    expect(await cli(args, broken())).toMatchObject({ code: 0, stdout: expect.stringContaining(out) as string })
  })
})
