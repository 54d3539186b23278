import { COMMANDS } from "./commands/index.ts"
import { optionsHelp } from "./common-help.ts"

const HEAD = `# The command line

\`toolwright\` gives everything that the library can do to a terminal. This page is written by the commands' own help
(\`npm run generate -w packages/cli\`), and a test keeps it so.

| command | what it does |
| --- | --- |
`

const TAIL = `
## What holds for all commands

- Results go to standard output, errors to standard error. Exit codes: 0 success, 1 the task failed, 2 wrong usage or
  configuration, 130 interrupted.
- In a terminal a run is shown as it happens, with a line that says what is going on; in a pipe only the lines that
  stay are printed. Colour is for terminals, and \`NO_COLOR\` turns it off. \`--json\` prints every event of a run as
  one line of JSON.
- Ctrl-C (or SIGTERM) cancels the model request and the running tool, and ends the run and its record. What finished
  calls did stays, and so does what a command had changed by then; \`toolwright undo\` takes either back. A second
  one, more than a quarter of a second later, ends the process at once, and the programs that it started with it; a
  run whose end is not on record by then counts as interrupted, and \`toolwright resume\` goes on with it.
- A reader that goes away (\`| head\`) ends a run as one Ctrl-C does.
- Control characters and escape sequences in what models and tools say are shown as symbols: they never reach the
  terminal.
- It needs Node.js 22.13. In a checkout of the repository an older Node is enough: the command then runs on the Node
  that the repository brings along.
`

/** The reference of all commands, as it stands in \`docs/cli.md\`. */
export async function cliReference(): Promise<string> {
  const shown = COMMANDS.filter((entry) => entry.hidden !== true)
  const rows = shown.map(({ name, summary }) => `| [\`${name}\`](#toolwright-${name}) | ${summary} |\n`)
  const sections = await Promise.all(
    shown.map(async (entry) => {
      const { usage, details } = await entry.load()
      const more = details === undefined ? "" : `\n${details}\n`
      return `\n## toolwright ${entry.name}\n\n${entry.summary}.\n\n\`\`\`text\n${usage.trimEnd()}\n\`\`\`\n${more}`
    }),
  )
  const common = `\n## Common options\n\n\`\`\`text\n${optionsHelp().trimEnd()}\n\`\`\`\n`
  return HEAD + rows.join("") + TAIL + common + sections.join("")
}
