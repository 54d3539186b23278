import type { Row } from "../clients.ts"
import type { Tried } from "./command-lines.ts"
import { SCENARIOS } from "./scenarios.ts"

/** The page of what came of it. */
export function page(rows: readonly Row[], tried: readonly Tried[]): string {
  return `# Clients

What comes of the real clients, unmodified, in front of a model that writes its calls as text: Hermes' and Qwen3-Coder's way, each. Made by
\`npm run bench -- clients --write-docs\`. A cell says yes where a client saw what it had to, with both.

## Libraries

${table(["client", "version", "wire", ...SCENARIOS.map(({ name }) => name)], rows.map(cellsOf))}

- **tools**, **stream**: one call with what looks like the end of a call in an argument, and an integer that the model wrote as text; whole and streamed.
- **parallel**: two calls in one answer.
- **cut off**: the model's limit ends it in the middle of a call. The client sees text, once, and the reason.
- **unreadable**: a call that is no JSON. The client sees it as text, once.
- **429**: the model's server is busy. The client sees that, and when to come again.
- **abort**: the client leaves a stream that never ends. The model's server sees it leave.

Its own way:

${ownWays(rows)}

The clients for Python are not among them: the table is made of what npm installs.

## Command lines

Each had to write a file and then another by a command, in a network that has nothing but this machine; judged by the files.

${table(
  ["command line", "version", "wire", "model writes", "task done"],
  tried.map((one) => [one.name, one.version, one.wire, one.family, one.wrong === "" ? "yes" : "no"]),
)}
`
}

function cellsOf({ name, version, wire, wrong, own }: Row): string[] {
  const cell = (fault: string, at: number): string =>
    fault === "" ? "yes" : own[SCENARIOS[at]!.name] === undefined ? "no" : "its own way"
  return [name, version, wire, ...wrong.map(cell)]
}

/** Where a client does with any server what is not as it should be. */
function ownWays(rows: readonly Row[]): string {
  const lines = rows.flatMap(({ name, own }) =>
    Object.entries(own).map(([scenario, what]) => `- ${name.split(",")[0]}, ${scenario}: ${what}.`),
  )
  return [...new Set(lines)].join("\n")
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n")
}
