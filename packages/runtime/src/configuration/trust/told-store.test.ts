import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeEach, describe, expect, test } from "vitest"
import { TOLD_PARTS, type Telling, type ToldPart } from "@toolwright/toolbox"
import { forgetSource, letInSource, toldSources, toldStore } from "./told-store.ts"

let home: string
let env: Record<string, string>
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "told-"))
  env = { XDG_STATE_HOME: home }
  return () => rmSync(home, { recursive: true, force: true })
})

const SOURCE = { kind: "mcp", name: "docs", target: ["npx", "docs", "in /a"] } as const
const telling = (description: string): Telling =>
  ({
    ...Object.fromEntries(Object.keys(TOLD_PARTS).map((part) => [part, '""'])),
    description: JSON.stringify(description),
  }) as Record<ToldPart, string>
const tells = (tools: Record<string, string>) =>
  new Map(Object.entries(tools).map(([tool, description]) => [tool, telling(description)]))
/** A new process, as far as can be told from what is kept. */
const started = (source: Parameters<typeof toldStore>[1] = SOURCE, lines: string[] = []) =>
  toldStore(env, source, (line) => lines.push(line))

describe("what a source told", () => {
  test("is remembered beyond the process, and a change is seen after it", () => {
    expect(started().changes(tells({ search: "Searches" })).size).toBe(0)
    const changed = started().changes(tells({ search: "Searches, and sends", other: "New" }))
    expect([...changed]).toEqual([["search", ["description"]]])
    expect(started().changes(tells({ search: "Searches, and sends" })).size).toBe(1)
    expect(started().changes(tells({ search: "Searches" })).size).toBe(0)
  })

  test("is another's where the name is the same and the command or address is not", () => {
    started().changes(tells({ search: "Searches" }))
    expect(started({ ...SOURCE, target: ["npx", "docs", "in /b"] }).changes(tells({ search: "Else" })).size).toBe(0)
    expect(started().changes(tells({ search: "Else" })).size).toBe(1)
  })

  test("is let in as it was shown, and as nothing else", () => {
    started().changes(tells({ search: "Searches" }))
    started().changes(tells({ search: "Second" }))
    started().letIn("search", telling("Second"))
    expect(started().changes(tells({ search: "Second" })).size).toBe(0)
    expect(started().changes(tells({ search: "Third" })).size).toBe(1)
  })

  test("is listed with what changed, let in by the source's name, and forgotten by it", () => {
    started().changes(tells({ search: "Searches", add: "Adds" }))
    started().changes(tells({ search: "Sends", add: "Adds" }))
    expect(toldSources(env)).toMatchObject([
      {
        name: "docs",
        target: "npx docs in /a",
        tools: 2,
        changed: [{ tool: "search", what: "its description", description: "Sends" }],
      },
    ])
    expect(letInSource(env, "elsewhere")).toEqual([])
    expect(letInSource(env, "docs")[0]!.changed).toHaveLength(1)
    expect(started().changes(tells({ search: "Sends", add: "Adds" })).size).toBe(0)
    expect(forgetSource(env, "docs")).toBe(1)
    expect(toldSources(env)).toEqual([])
    expect(started().changes(tells({ search: "Whatever" })).size).toBe(0)
  })

  test("is kept for this user alone, as marks, without secrets of the command or address", () => {
    const url = "https://me:pass@host/mcp?key=k123456"
    const token = `ghp_${"a".repeat(36)}`
    started({ kind: "mcp", name: "a", target: [url] }).changes(tells({ x: "What it says" }))
    started({ kind: "mcp", name: "b", target: ["sh", token] }).changes(tells({ x: "What it says" }))
    const folder = join(home, "toolwright")
    for (const name of readdirSync(folder)) {
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
      expect(readFileSync(join(folder, name), "utf8")).not.toMatch(/pass@|k123456|ghp_a|What it says/)
    }
    expect(toldSources(env).map(({ target }) => target)).toEqual(["https://••••@host/mcp?…", "sh [secret]"])
  })

  test("may be of a tool of any name, and of more than can be kept", () => {
    started().changes(tells({ ["__proto__"]: "First" }))
    started().changes(new Map([["__proto__", telling("First")]]))
    expect(started().changes(new Map([["__proto__", telling("Second")]])).size).toBe(1)
    const many = new Map(Array.from({ length: 10_050 }, (_, number) => [`t${number}`, telling(`${number}`)] as const))
    const before = started().changes(many)
    expect(before.size).toBe(51)
    const others = new Map([...many].map(([tool]) => [tool, telling("x".repeat(3000))] as const))
    expect(started().changes(others).size).toBe(10_050)
    expect(started().changes(others).size, "and it is read again").toBe(10_050)
  })

  test.skipIf(process.platform === "win32")("that others could have written counts for nothing", () => {
    started().changes(tells({ search: "Searches" }))
    const folder = join(home, "toolwright")
    chmodSync(join(folder, readdirSync(folder)[0]!), 0o666)
    expect(toldSources(env)).toEqual([])
  })

  test("that cannot be kept is remembered for the time being, and that is said once", () => {
    writeFileSync(join(home, "toolwright"), "no folder")
    const lines: string[] = []
    const told = started(SOURCE, lines)
    told.changes(tells({ search: "Searches" }))
    expect(told.changes(tells({ search: "Sends" })).size).toBe(1)
    expect(lines).toEqual([expect.stringContaining("What 'docs' tells of its tools is remembered for this time only")])
  })
})
