import type { Setting, SettingNature } from "./setting.ts"
import { SETTINGS } from "./settings.ts"

/** The reference of all settings, as the page `docs/configuration.md`. */
export function configurationReference(): string {
  const sections = [...new Set(SETTINGS.map(({ key }) => key.split(".")[0]!))]
  const tables = sections.map((section) => {
    const rows = SETTINGS.filter(({ key }) => key.split(".")[0] === section).map(row)
    return (
      `## ${section}\n\n| setting | type | default | environment | flag | in a file | meaning |\n| --- | --- | --- ` +
      `| --- | --- | --- | --- |\n${rows.join("\n")}\n`
    )
  })
  return `${INTRODUCTION}\n${tables.join("\n")}`
}

const INTRODUCTION = `# Configuration

One file, \`toolwright.yaml\`, in the folder where you start or in one above it; environment variables; flags. Each
goes before the one named earlier. \`toolwright config\` shows the values in force and where each comes from. A
misspelt setting stops the start, with the right spelling.

Editors check the file against the schema \`packages/runtime/schema/toolwright.schema.json\`:

\`\`\`yaml
# yaml-language-server: $schema=./node_modules/@toolwright/runtime/schema/toolwright.schema.json
model:
  name: qwen2.5-coder:7b
  baseUrl: http://localhost:11434/v1 # asks for your trust, once
agent:
  maxRounds: 30
workspace:
  roots: [.]
permissions:
  deny: [bash]
\`\`\`

## A folder from elsewhere

A file that is found may have come with a repository that you cloned, or lie in a folder above that others write to.
What it *takes away* is in force at once: folders read only, tools denied, fewer tools. What would start programs,
name servers, use keys, or open folders and permissions is left out until you trust the file:

\`\`\`sh
toolwright trust          # the file of this folder, as it stands, and what it may do
toolwright trust list     # what was trusted or declined
toolwright trust revoke . # ask again
\`\`\`

At a terminal you are asked once, with every program, server and folder named; elsewhere a line says what is left out,
and the command goes on. The answer holds for the file as it stands, for the file of MCP servers, the agents and the
screenplay that it names, for its modules of tools and middleware, and for the programs in its folder that servers are
started with; what it does not cover stands in [security](security.md). It is kept in \`~/.local/state/toolwright\`
(or below \`XDG_STATE_HOME\`), which only you can read. A file named with \`--config\` is trusted; \`--trust\` and
\`TOOLWRIGHT_TRUST=1\` trust whatever is found, in containers and CI. The column "in a file" below says which setting
is which; "in part" means that what only narrows (folders inside the current one, patterns that hide more) is in force
at once, and of limits as much as 100 rounds and five agents deep.

What a file names (\`mcp.file\`, \`model.path\`, \`model.screenplay\`, \`runs.database\`) is found from the file's own
folder, and its MCP servers are started there. A \`toolwright.yaml\` that is a link, a pipe, or larger than 64 KB is
passed over with a line that says so; one that you have trusted before, and that has grown so large, stops the start.

**Keys.** \`OPENAI_API_KEY\` goes to api.openai.com, or where \`OPENAI_BASE_URL\` says; \`ANTHROPIC_API_KEY\` likewise
to api.anthropic.com or \`ANTHROPIC_BASE_URL\`; \`TOOLWRIGHT_API_KEY\` where \`TOOLWRIGHT_BASE_URL\` says, or, where
that is not set, to the address that you name; a key in a file to the address in the same file. To send one elsewhere,
name its variable: \`--api-key-env OPENAI_API_KEY\`.

This page is made from the settings themselves.
`

const TAKES_EFFECT: Readonly<Partial<Record<SettingNature, string>>> = { harmless: "at once", narrows: "at once" }

function row(setting: Setting): string {
  const cells = [
    `\`${setting.key}\``,
    setting.values === undefined ? setting.type : setting.values.map((value) => `\`${value}\``).join(", "),
    setting.fallback === undefined ? "" : `\`${String(setting.fallback)}\``,
    (setting.env ?? []).map((name) => `\`${name}\``).join(", "),
    setting.flag === undefined ? "" : `\`--${setting.flag}\``,
    TAKES_EFFECT[setting.nature] ?? (setting.free === undefined ? "with trust" : "in part"),
    setting.description,
  ]
  return `| ${cells.join(" | ")} |`
}
