import { execFileSync } from "node:child_process"
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { executeCall } from "@toolwright/toolbox"
import { expect, onTestFinished, test } from "vitest"
import { createToolwright } from "../toolwright.ts"

const TOOL = (
  name: string,
) => `export const it = { name: "${name}", description: "says it", parameters: { type: "object" },
  handler: async () => ({ success: true, output: "it", modifiedFiles: [], metadata: {} }) }\n`

const FILES: Readonly<Record<string, string>> = {
  "lib/deep/mine.ts": `import "./helper.ts"\n${TOOL("mine")}`,
  "lib/deep/helper.ts": "export const one = 1\n",
  "src/real/linked.mjs": TOOL("linked"),
  "free.txt": "free\n",
}

type Call = readonly [tool: string, args: Record<string, string>]
const file = (action: string, path: string, rest: Record<string, string> = {}): Call => [
  "file",
  { action, path, ...rest },
]
const move = (source: string, destination: string): Call => ["move_file", { source, destination }]
const content = { content: TOOL("planted") }

/** Ways to what is loaded that do not name it as the configuration does. */
const WAYS: Readonly<Record<string, readonly Call[]>> = {
  "a path with ..": [file("write", "src/../lib/deep/mine.ts", content), file("write", "lib/./deep//mine.ts", content)],
  "another case": [file("write", "LIB/deep/MINE.ts", content), file("write", "Tools/new.mjs", content)],
  "where a link to a folder of tools leads": [
    file("write", "src/real/new.mjs", content),
    file("write", "src/real/linked.mjs", content),
  ],
  "a move of the folder above": [move("lib", "gone"), move("lib/deep", "gone"), move("src", "gone")],
  "a move onto it": [move("free.txt", "lib/deep/mine.ts"), move("free.txt", "tools/new.mjs")],
  "the link put elsewhere": [file("delete", "tools"), move("tools", "other")],
  "an edit by its other name": [file("append", "known.ts", content)],
  "its removal": [file("delete", "lib/deep/helper.ts"), file("delete", "src/real/linked.mjs")],
}

const COMMANDS: readonly string[] = [
  "echo planted > lib/../lib/deep/mine.ts",
  "mv lib gone; mkdir -p lib/deep; echo planted > lib/deep/mine.ts",
  "mv lib/deep lib/gone; mkdir lib/deep; echo planted > lib/deep/mine.ts",
  "mv src gone; mkdir -p src/real; echo planted > src/real/linked.mjs",
  "ln lib/deep/mine.ts alias.ts; echo planted > alias.ts",
  "ln -s lib/deep/mine.ts alias2.ts; echo planted > alias2.ts",
  "echo planted > src/real/new.mjs",
  "sed -i s/says/planted/ lib/deep/mine.ts; rm -f lib/deep/helper.ts",
  "git checkout -q other -- . ; git checkout -qf other; git reset -q --hard other",
]

function folder(): string {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "around-")))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(join(cwd, name, ".."), { recursive: true })
    writeFileSync(join(cwd, name), text)
  }
  symlinkSync("src/real", join(cwd, "tools"))
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@x", ...args], { cwd })
  git("init", "-q", "-b", "main")
  git("add", ".")
  git("commit", "-qm", "ours")
  git("checkout", "-qb", "other")
  writeFileSync(join(cwd, "lib/deep/mine.ts"), "planted\n")
  git("commit", "-qam", "theirs")
  git("checkout", "-q", "main")
  linkSync(join(cwd, "lib/deep/mine.ts"), join(cwd, "known.ts"))
  return cwd
}

const setUp = (cwd: string, sandbox: "auto" | "off") =>
  createToolwright({
    cwd,
    tools: ["./lib/deep/mine.ts", "./tools"],
    workspace: { roots: ["."] },
    builtins: { bash: { sandbox } },
    withBuiltins: true,
  })

/** What would be loaded: every module where the configuration looks for it. */
const loaded = (cwd: string) =>
  ["lib/deep", "tools"].flatMap((place) =>
    readdirSync(join(cwd, place)).map((name) => `${place}/${name}\n${readFileSync(join(cwd, place, name), "utf8")}`),
  )

test.each(Object.keys(WAYS))("no tool comes to what is loaded by %s", async (way) => {
  const cwd = folder()
  await using toolwright = await setUp(cwd, "auto")
  const before = loaded(cwd)
  for (const [name, args] of WAYS[way]!) {
    const result = await executeCall(
      toolwright.registry,
      { name, arguments: args },
      { middleware: toolwright.middleware },
    )
    expect(result.error?.code ?? "", JSON.stringify(args)).not.toMatch(/INVALID_ARGUMENTS|UNKNOWN_TOOL/)
    expect(loaded(cwd), JSON.stringify(args)).toEqual(before)
  }
})

test.each(COMMANDS)("no command comes to what is loaded: %s", async (command) => {
  const cwd = folder()
  await using toolwright = await setUp(cwd, "auto")
  const before = loaded(cwd)
  await executeCall(
    toolwright.registry,
    { name: "bash", arguments: { command } },
    { middleware: toolwright.middleware },
  )
  expect(loaded(cwd)).toEqual(before)
})

test.each(["auto", "off"] as const)("git brings no other version of what is loaded, sandbox %s", async (sandbox) => {
  const cwd = folder()
  await using toolwright = await setUp(cwd, sandbox)
  const before = loaded(cwd)
  const call = { name: "git", arguments: { action: "checkout", ref: "other" } }
  expect(await executeCall(toolwright.registry, call, { middleware: toolwright.middleware })).toMatchObject({
    error: { code: "CONFIGURATION_KEPT" },
  })
  expect(loaded(cwd)).toEqual(before)
})

// Neither a link nor a further name can be kept from a command by what is mounted: nothing comes of changing them.
test("a link that is put elsewhere, and a further name of a module, change nothing that runs", async () => {
  const cwd = folder()
  const kept = Promise.withResolvers<string>()
  const lines: string[] = []
  await using toolwright = await createToolwright({
    cwd,
    tools: ["./lib/deep/mine.ts", "./tools"],
    workspace: { roots: ["."] },
    withBuiltins: true,
    log(line) {
      lines.push(line)
      if (line.includes("hard links")) kept.resolve(line)
    },
  })
  const names = (): string[] => toolwright.registry.list().map(({ name }) => name)
  const before = names()
  expect(before).toEqual(expect.arrayContaining(["mine", "linked"]))
  const planted = TOOL("planted").replaceAll("\n", " ")
  for (const command of [
    `rm tools; mkdir tools; echo '${planted}' > tools/linked.mjs`,
    `echo '${planted}' > known.ts; touch lib/deep/noticed`,
  ]) {
    const result = await executeCall(
      toolwright.registry,
      { name: "bash", arguments: { command } },
      { middleware: toolwright.middleware },
    )
    expect(result).toMatchObject({ success: true })
  }
  expect(await kept.promise).toMatch(/mine\.ts has further names[^]*stay as they were/)
  expect(lines.filter((line) => line.startsWith("Loaded again"))).toEqual([])
  expect(names()).toEqual(before)
})
