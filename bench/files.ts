/**
 * The filesystem tools beside MCP's official filesystem server, ripgrep and a bare `readdir` walk, on one tree of
 * 20,000 files and 200 MB. Ours are called through the registry (validation and all), the server through its own client
 * over stdio.
 */
import { execFileSync } from "node:child_process"
import {
  mkdirSync,
  mkdtempSync,
  openSync,
  closeSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { readdir } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ToolRegistry } from "@toolwright/toolbox"
import { createWorkspace } from "@toolwright/host/paths"
import { createBuiltinTools } from "@toolwright/tools"
import { installPeers } from "./peers.ts"

const DIRECTORIES = 1000
const FILES_PER_DIRECTORY = 20
const FILE_BYTES = 10_240
const ROUNDS = 9
const NEEDLE = "a_rare_name_in_one_of_a_thousand_files"

interface Client {
  connect(transport: unknown): Promise<void>
  callTool(
    call: { name: string; arguments: object },
    schema?: unknown,
    options?: object,
  ): Promise<{ isError?: boolean; content: { text: string }[] }>
  close(): Promise<void>
}

export async function run() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-bench-")))
  const root = join(folder, "tree")
  try {
    makeTree(root)
    const figures: Record<string, number> = {}
    const ratios: Record<string, number> = {}
    const compare: Compare = async (name, peer, sides, rounds = ROUNDS) => {
      const times = await alternate(sides, rounds)
      figures[`${name}_ms`] = times.ours
      figures[`${name}_${peer}_ms`] = times.theirs
      ratios[`${name}_vs_${peer}`] = times.theirs / times.ours
    }
    const ours = ourTools(root)
    await compareWithOfficial(root, ours, compare)
    await compareWithReaddir(root, compare)
    await compareWithRipgrep(root, ours, compare)
    Object.assign(figures, await largeFiles(folder))
    return {
      figures,
      ratios,
      report:
        `${DIRECTORIES * FILES_PER_DIRECTORY} files, ` +
        `${Math.round((DIRECTORIES * FILES_PER_DIRECTORY * FILE_BYTES) / 1e6)} MB`,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type OurTools = ReturnType<typeof ourTools>
type Compare = (
  name: string,
  peer: string,
  sides: { ours(): Promise<unknown>; theirs(): Promise<unknown> | unknown },
  rounds?: number,
) => Promise<void>

async function compareWithOfficial(root: string, ours: OurTools, compare: Compare): Promise<void> {
  const official = await officialServer(root)
  await compare("search_files", "official", {
    ours: () => ours("search_files", { path: root, pattern: "*needle*" }),
    theirs: () => official.call("search_files", { path: root, pattern: "**/*needle*" }),
  })
  const excludes = ["node_modules", ".git"]
  await compare("tree", "official", {
    ours: () => ours("get_directory_tree", { path: root, exclude_patterns: excludes }),
    theirs: () => official.call("directory_tree", { path: root, excludePatterns: excludes }),
  })
  await compare("tree_without_excludes", "official", {
    ours: () => ours("get_directory_tree", { path: root, exclude_patterns: [] }),
    theirs: () => official.call("directory_tree", { path: root }),
  })
  await official.close()
}

async function compareWithReaddir(root: string, compare: Compare): Promise<void> {
  const workspace = createWorkspace({ roots: [{ path: root }] })
  const listing = async () => {
    const paths: string[] = []
    await workspace.walk(root, ({ path }) => void paths.push(path))
    return paths
  }
  await compare("listing", "readdir", { ours: listing, theirs: () => bareWalk(root) }, 15)
  await compare("listing", "readdir_sync", { ours: listing, theirs: () => blockingWalk(root) }, 15)
}

async function compareWithRipgrep(root: string, ours: OurTools, compare: Compare): Promise<void> {
  const { rgPath } = (await import("@vscode/ripgrep")) as { rgPath: string }
  const bareRipgrep = (pattern: string) => () => {
    try {
      execFileSync(rgPath, ["--no-config", "--hidden", "-n", "-e", pattern, "."], {
        cwd: root,
        stdio: ["ignore", "pipe", "ignore"],
        maxBuffer: 1e9,
      })
    } catch {
      // Exit code 1: nothing found.
    }
  }
  for (const [name, pattern] of [
    ["search", NEEDLE],
    ["search_regex", "needle_\\d+|a_rare_[a-z_]+files"],
  ] as const) {
    await compare(
      name,
      "ripgrep",
      { ours: () => ours("search", { action: "grep", pattern }), theirs: bareRipgrep(pattern) },
      9,
    )
  }
}

function makeTree(root: string): void {
  const line = (seed: number) =>
    `export function value${seed}(input: number): number { return input * ${seed} + ${seed % 97} }\n`
  for (let directory = 0; directory < DIRECTORIES; directory += 1) {
    const path = join(root, `package${directory % 40}`, `module${directory}`)
    mkdirSync(path, { recursive: true })
    for (let file = 0; file < FILES_PER_DIRECTORY; file += 1) {
      const number = directory * FILES_PER_DIRECTORY + file
      let text = number % 1000 === 7 ? `// ${NEEDLE}\n` : ""
      for (let seed = number * 1000; text.length < FILE_BYTES; seed += 1) text += line(seed)
      writeFileSync(join(path, number % 500 === 3 ? `needle${number}.ts` : `file${number}.ts`), text)
    }
  }
}

function ourTools(root: string) {
  const registry = new ToolRegistry()
  for (const tool of createBuiltinTools({ roots: [{ path: root, access: "read-write" }] })) registry.register(tool)
  return async (name: string, args: object): Promise<unknown> => {
    const result = await registry.execute(name, args)
    if (!result.success) throw new Error(result.output)
    return result.data
  }
}

async function officialServer(root: string) {
  const peers = installPeers("files", {
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
    "@modelcontextprotocol/sdk": "1.32.2",
  })
  const { Client } = await peers.load<{ Client: new (info: object) => Client }>(
    "@modelcontextprotocol/sdk/client/index.js",
  )
  const { StdioClientTransport } = await peers.load<{ StdioClientTransport: new (options: object) => unknown }>(
    "@modelcontextprotocol/sdk/client/stdio.js",
  )
  const client = new Client({ name: "bench", version: "1.0.0" })
  const server = join(peers.folder, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js")
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [server, root], stderr: "ignore" }))
  return {
    async call(name: string, args: object): Promise<unknown> {
      const result = await client.callTool({ name, arguments: args }, undefined, { timeout: 300_000 })
      if (result.isError === true) throw new Error(result.content[0]?.text)
      return result
    },
    close: () => client.close(),
  }
}

/** A walk with nothing but `readdir`, which leaves the thread to others while it waits, as ours does. */
async function bareWalk(root: string): Promise<string[]> {
  const paths: string[] = []
  const pending = [root]
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      const path = `${directory}/${entry.name}`
      paths.push(path)
      if (entry.isDirectory()) pending.push(path)
    }
  }
  return paths
}

/** The fastest walk there is in Node: it blocks the thread from beginning to end. */
function blockingWalk(root: string): string[] {
  const paths: string[] = []
  const pending = [root]
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = `${directory}/${entry.name}`
      paths.push(path)
      if (entry.isDirectory()) pending.push(path)
    }
  }
  return paths
}

/** Best times of both sides in milliseconds, taken in turn, after two rounds that do not count. */
async function alternate(sides: { ours(): Promise<unknown>; theirs(): unknown }, rounds: number) {
  const best = { ours: Number.POSITIVE_INFINITY, theirs: Number.POSITIVE_INFINITY }
  for (let round = -2; round < rounds; round += 1) {
    for (const side of ["ours", "theirs"] as const) {
      const started = performance.now()
      await sides[side]()
      const time = performance.now() - started
      if (round >= 0) best[side] = Math.min(best[side], time)
    }
  }
  return best
}

async function largeFiles(folder: string): Promise<Record<string, number>> {
  const root = join(folder, "large")
  mkdirSync(root)
  const block = Buffer.from("one of very many lines of a log file, with some text in it\n".repeat(1_000_000)).subarray(
    0,
    58 * 1_000_000,
  )
  const descriptor = openSync(join(root, "gigabyte.log"), "w")
  for (let written = 0; written < 1024 ** 3; written += block.length) writeSync(descriptor, block)
  closeSync(descriptor)
  writeFileSync(join(root, "line.txt"), Buffer.alloc(100 * 1024 * 1024, "x"))
  writeFileSync(join(root, "ten.txt"), `${"some text in a line\n".repeat(500_000)}needle\n`)
  const call = ourTools(root)
  const figures: Record<string, number> = {}
  const measure = async (name: string, task: () => Promise<unknown>) => {
    const before = process.memoryUsage().rss
    const started = performance.now()
    await task()
    figures[`${name}_ms`] = performance.now() - started
    figures[`${name}_rss_mb`] = Math.max(0, process.memoryUsage().rss - before) / 1024 / 1024
  }
  await measure("head_1000_of_1gb", () => call("read_text_file", { path: "gigabyte.log", head: 1000 }))
  await measure("tail_1000_of_1gb", () => call("read_text_file", { path: "gigabyte.log", tail: 1000 }))
  await measure("head_of_100mb_line", () => call("read_text_file", { path: "line.txt", head: 1 }))
  await measure("edit_of_10mb", () => call("edit_file", { path: "ten.txt", old_text: "needle", new_text: "thread" }))
  return figures
}
