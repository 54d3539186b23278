import { SETTINGS, type Setting } from "./settings.ts"

/** The reference of all settings, as the page `docs/configuration.md`. */
export function configurationReference(): string {
  const sections = [...new Set(SETTINGS.map(({ key }) => key.split(".")[0]!))]
  const tables = sections.map((section) => {
    const rows = SETTINGS.filter(({ key }) => key.startsWith(`${section}.`)).map(row)
    return `## ${section}\n\n| setting | type | default | environment | flag | meaning |\n| --- | --- | --- | --- | --- | --- |\n${rows.join("\n")}\n`
  })
  return `${INTRODUCTION}\n${tables.join("\n")}`
}

const INTRODUCTION = `# Configuration

One file, \`toolwright.yaml\`, in the folder where you start or in one above it; environment variables; flags. Each goes before the one named earlier.
\`toolwright config\` shows the values in force and where each comes from. A misspelt setting stops the start, with the right spelling.

Editors check the file against the schema \`packages/runtime/schema/toolwright.schema.json\`:

\`\`\`yaml
# yaml-language-server: $schema=./node_modules/@toolwright/runtime/schema/toolwright.schema.json
model:
  name: qwen2.5-coder:7b
  baseUrl: http://localhost:11434/v1
agent:
  maxRounds: 30
workspace:
  roots: [.]
permissions:
  deny: [bash]
\`\`\`

This page is made from the settings themselves.
`

function row(setting: Setting): string {
  const cells = [
    `\`${setting.key}\``,
    setting.values === undefined ? setting.type : setting.values.map((value) => `\`${value}\``).join(", "),
    setting.fallback === undefined ? "" : `\`${String(setting.fallback)}\``,
    (setting.env ?? []).map((name) => `\`${name}\``).join(", "),
    setting.flag === undefined ? "" : `\`--${setting.flag}\``,
    setting.description,
  ]
  return `| ${cells.join(" | ")} |`
}
