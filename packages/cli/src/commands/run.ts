import type { Command } from "../command.ts"
import type { OptionDeclarations } from "../options.ts"
import { RUN_OPTIONS, runTask } from "../run-task.ts"
import { usageText } from "../usage.ts"

const AGENT = {
  agent: {
    type: "string",
    value: "name",
    description: "assistant (unless given), or another that 'toolwright agents' lists",
  },
  file: {
    type: "string",
    multiple: true,
    value: "path",
    description: "File that the agent file-owner owns; it writes no other",
  },
  image: { type: "string", multiple: true, value: "file", description: "Picture that belongs to the task" },
  "no-tools": { type: "boolean", description: "Ask a plain question: no tool is offered" },
  "output-schema": {
    type: "string",
    value: "file",
    description: "Answer with JSON of this schema; it alone is on standard output",
  },
} as const satisfies OptionDeclarations

export const runCommand: Command = {
  name: "run",
  summary: "Give a task to a model that has the tools of this workspace",
  usage: usageText({
    synopsis: ['run "<task>" [options]', "run - [options]"],
    description:
      "Runs a task here, shows what happens, and leaves a record. --model and --base-url name the model; without " +
      "one the pocket model does plain requests. Ctrl-C ends the run, twice at once all it started.",
    options: { ...AGENT, ...RUN_OPTIONS },
    examples: [
      {
        line: 'toolwright run "show me the first 5 lines of README.md"',
        does: "With the built-in pocket model, where no other is configured",
      },
      {
        line: 'toolwright run "make the test pass" --model qwen2.5-coder:7b --base-url http://localhost:11434/v1',
        does: "With a model that Ollama serves",
      },
      { line: 'toolwright run "delete notes.txt" --dry-run', does: "See the calls, run none" },
    ],
  }),
  details: `Which model is asked is said by options, environment variables or toolwright.yaml. Where none is
configured, the built-in pocket model does plain requests; it asks before it deletes, moves, writes over a file or runs
a program (\`--allow-tool\`), and where it is not sure. With it the exit code is 1 also when a call failed, or the
model declined or asked.

The exit code is 0 only where the agent finished and did what it promises. Where calls failed and were never put right,
or the tests as they were before no longer pass, the run ends as completed-with-failures, with exit code 1 and a note
of each. So does a run of an agent that may change something, whose answer says in plain English that it changed code or
files while none of its calls changed anything, or that tests pass while nothing that may have run them went well since
its last change.

With \`--dry-run\` the model's calls are checked against the tools' schemas and the permissions, and shown; none is
run, and the model is told so. With \`--json\` each is a line with type "call-end", name and arguments. The exit code
is 0 when all were well-formed.`,
  run: (invocation) => runTask(invocation, undefined, AGENT),
}
