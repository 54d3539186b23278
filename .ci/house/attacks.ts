import { execFileSync } from "node:child_process"
import { join, relative } from "node:path"
import { root } from "./run-example.ts"

/** What is attacked, and the files whose tests are the attacks. */
const AREAS: readonly (readonly [string, readonly string[]])[] = [
  [
    "Folders from elsewhere",
    [
      "packages/runtime/src/configuration/trust",
      "packages/runtime/src/own-tools/hostile-places.test.ts",
      "packages/runtime/src/own-tools/written-by-tools.test.ts",
      "packages/runtime/src/own-tools/written-around.test.ts",
      "packages/cli/src/commands/trust.test.ts",
      "packages/cli/src/hostile-folders.test.ts",
      "packages/cli/src/hostile-surfaces.test.ts",
    ],
  ],
  [
    "Keys and secrets",
    [
      "packages/runtime/src/configuration/key.test.ts",
      "packages/runtime/src/secrets",
      "packages/cli/src/secret-places.test.ts",
    ],
  ],
  [
    "Paths",
    [
      "packages/host/src/paths/policy.test.ts",
      "packages/host/src/paths/path-patterns.test.ts",
      "packages/runtime/src/assembly/denied-paths.test.ts",
      "packages/tools/src/filesystem/race.test.ts",
      "packages/tools/src/filesystem/links.test.ts",
      "packages/tools/src/ground/work/earlier-checks.test.ts",
    ],
  ],
  [
    "Repositories",
    [
      "packages/tools/src/git/hostile.test.ts",
      "packages/tools/src/git/leading-links.test.ts",
      "packages/tools/src/bash/kept-history.test.ts",
    ],
  ],
  [
    "Programs and their sandbox",
    [
      "packages/host/src/sandbox/sandbox.test.ts",
      "packages/tools/src/bash/planted.test.ts",
      "packages/tools/src/bash/spellings.test.ts",
    ],
  ],
  ["The gate: success without the work", ["packages/runtime/src/scenarios/hostile.test.ts"]],
  [
    "The server",
    [
      "packages/server/src/attacks.test.ts",
      "packages/server/src/http/followers.test.ts",
      "packages/server/src/openapi/every-route.test.ts",
    ],
  ],
  [
    "Models, MCP servers and pages",
    [
      "packages/backends/src/openai-compatible/hostile.test.ts",
      "packages/mcp/src/import/attacks.test.ts",
      "packages/mcp/src/import/hostile.test.ts",
    ],
  ],
  [
    "Calls that would stop the process",
    [
      "packages/host/src/edit/growth.test.ts",
      "packages/toolbox/src/validate/growth.test.ts",
      "packages/logits/src/text-grammar/hostile.test.ts",
    ],
  ],
]

/** Rows of one kind beyond which they are counted. */
const MOST = 12

interface Listed {
  name: string
  file: string
}

/** The page of attacks: what is tried, and what it gets, as the tests are named. */
export function attacksPage(): string {
  const listed = JSON.parse(
    execFileSync(
      process.execPath,
      ["--conditions=toolwright-source", join(root, ".ci/house/list-tests.ts"), ...AREAS.flatMap(([, files]) => files)],
      {
        cwd: root,
        env: Object.fromEntries(
          Object.entries(process.env).filter(([name]) => !/^(VITEST|VITE|TEST|NODE_ENV|TINYPOOL)/.test(name)),
        ),
        encoding: "utf8",
        maxBuffer: 1 << 26,
      },
    ),
  ) as Listed[]
  const tests = listed.map(({ name, file }) => ({ path: relative(root, file), parts: name.split(" > ") }))
  const sections = AREAS.map(([area, files]) => {
    const own = tests.filter(({ path }) => files.some((file) => path.startsWith(file)))
    // Files are collected side by side, so they come in any order; within one the order is its own.
    own.sort((one, other) => (one.path < other.path ? -1 : one.path > other.path ? 1 : 0))
    const groups = Map.groupBy(own, ({ path, parts }) => `${path} ${parts.slice(0, -1).join(": ")}`)
    const rows = [...groups.values()].flatMap((group) => {
      const shown = group.slice(0, MOST).map(({ path, parts }) => row(parts.join(": "), path))
      const more = group.length - shown.length
      return more > 0 ? [...shown, row(`… and ${more} more of this kind`, group[0]!.path)] : shown
    })
    return (
      `## ${area}\n\n${own.length} attempts.\n\n| attempt, and what it gets | test |\n| --- | --- |\n` +
      `${rows.join("\n")}\n`
    )
  })
  return (
    `# Attacks that are tried\n\nMade from the tests: each line is one that passes where it can be tried: some ` +
    `need a system, a sandbox or a terminal. \`UPDATE_DOCS=1 npx vitest run .ci/house/attacks.test.ts\` writes it ` +
    `anew.\nWhat holds, where, and why stands in [security.md](security.md).\n\n${sections.join("\n")}`
  )
}

function row(text: string, path: string): string {
  const plain = text
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, "")
    .replaceAll("|", "\\|")
    .replaceAll("`", "'")
    .replaceAll(/([<[\]*_])/g, "\\$1")
  return `| ${plain.length > 180 ? `${plain.slice(0, 179)}…` : plain} | \`${path}\` |`
}
