import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { beforeEach, describe, expect, test } from "vitest"
import { loadConfiguration, type ConfigurationInputs } from "../load.ts"

let home: string
let cwd: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "trust-"))
  cwd = join(home, "clone")
  mkdirSync(cwd)
  return () => rmSync(home, { recursive: true, force: true })
})

const write = (text: string, name = "toolwright.yaml") => writeFileSync(join(cwd, name), text)
const load = (more: Partial<ConfigurationInputs> = {}) =>
  loadConfiguration({ cwd, env: { XDG_STATE_HOME: join(home, "state") }, ...more })

describe("what a trusted file names", () => {
  const CASES: [string, string, Record<string, string>, string][] = [
    ["a module of tools", "tools: [./tools.ts]", { "tools.ts": "export {}" }, "tools.ts"],
    [
      "what it imports, however deep",
      "tools: [./tools.ts]",
      {
        "tools.ts": 'import { a } from "./lib/a.js"',
        "lib/a.ts": "export * from '../b'\n",
        "b/index.js": "await import(`./c.mjs`)",
        "b/c.mjs": "",
      },
      "b/c.mjs",
    ],
    ["a module in a folder of tools", "tools: [./mine]", { "mine/one.js": "", "mine/two.js": "" }, "mine/two.js"],
    [
      "a package of tools",
      "tools: ['@me/tools']",
      { "node_modules/@me/tools/package.json": '{"main":"a.js"}', "node_modules/@me/tools/a.js": "" },
      "node_modules/@me/tools/a.js",
    ],
    ["middleware", "calls: { middleware: [./around.js] }", { "around.js": "" }, "around.js"],
    [
      "a server's program",
      "mcp: { servers: { s: { command: node, args: [./server.js] } } }",
      { "server.js": "" },
      "server.js",
    ],
    [
      "what a server's program requires",
      "mcp: { servers: { s: { command: node, args: [./server.js] } } }",
      { "server.js": "const x = require('./x')", "x.json": "1" },
      "x.json",
    ],
    [
      "a server's program in its folder",
      "mcp: { servers: { s: { command: ./run.sh, cwd: srv } } }",
      { "srv/run.sh": "echo" },
      "srv/run.sh",
    ],
    [
      "a program in the middle of a shell's line",
      "mcp: { servers: { s: { command: sh, args: ['-c', 'cd x;./start --fast'] } } }",
      { start: "echo" },
      "start",
    ],
    [
      "what a variable has a program load",
      "mcp: { servers: { s: { command: npx, env: { NODE_OPTIONS: '--require=./hook.cjs' } } } }",
      { "hook.cjs": "" },
      "hook.cjs",
    ],
    [
      "the scripts of a package",
      "mcp: { servers: { s: { command: npm, args: [start] } } }",
      { "package.json": "{}" },
      "package.json",
    ],
    [
      "where packages come from",
      "mcp: { servers: { s: { command: npx, args: [docs] } } }",
      { ".npmrc": "registry=https://a.example" },
      ".npmrc",
    ],
    ["a server in one line", "mcp: { connect: ['node ./server.js'] }", { "server.js": "" }, "server.js"],
    [
      "a server in a file of servers",
      "mcp: { file: mcp.json }",
      { "mcp.json": '{"mcpServers":{"s":{"command":"python","args":["./s.py"]}}}', "s.py": "" },
      "s.py",
    ],
    ["a screenplay", "model: { screenplay: play.yaml }", { "play.yaml": "steps: []\n" }, "play.yaml"],
    ["a folder that is started", "mcp: { connect: ['node ./srv'] }", { "srv/index.js": "" }, "srv/index.js"],
    ["an agent", "agents: { files: [./agents] }", { "agents/mine.yaml": "from: assistant\n" }, "agents/mine.yaml"],
  ]
  test.each(CASES)("asks again when it changes: %s", async (_what, yaml, files, changed) => {
    write(`${yaml}\n`)
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true })
      write(text, name)
    }
    await load({ ask: async () => true })
    expect((await load()).trust).toBe("trusted")
    write(`${files[changed]!} `, changed)
    expect((await load()).trust).toBe("unknown")
    write(files[changed]!, changed)
    expect((await load()).trust).toBe("trusted")
    rmSync(join(cwd, changed))
    expect((await load()).trust).toBe("unknown")
  })

  test("does not ask again for what it does not name, nor for programs of the system", async () => {
    const elsewhere = join(home, "bin")
    mkdirSync(elsewhere)
    write("", "../bin/node")
    write("", "README.md")
    write(`mcp: { servers: { s: { command: ${join(elsewhere, "node")}, args: [--version] } } }\n`)
    await load({ ask: async () => true })
    write("changed", "README.md")
    write("changed", "../bin/node")
    write("{}", "package.json")
    expect((await load()).trust).toBe("trusted")
  })

  test("may be anything: a device, a pipe, modules that import each other, a thousand of them", async () => {
    symlinkSync("/dev/zero", join(cwd, "zero.js"))
    write("import './b.js'", "a.js")
    write("import './a.js'; import './zero.js'", "b.js")
    mkdirSync(join(cwd, "many"))
    for (let at = 0; at < 1000; at++) write(`import './${at + 1}.js'`, `many/${at}.js`)
    write("tools: [./a.js, ./zero.js, ./many]\n")
    await load({ ask: async () => true })
    expect((await load()).trust).toBe("trusted")
    write("import './b.js';", "a.js")
    expect((await load()).trust).toBe("unknown")
  })
})
