import type { Command } from "../command.ts"
import { RUN_OPTIONS, runTask } from "../run-task.ts"
import { usageText } from "../usage.ts"

/** A command that runs one agent. */
function agentCommand(name: string, agent: string, summary: string, description: string, example: string): Command {
  return {
    name,
    summary,
    usage: usageText({
      synopsis: [`${name} --description "<task>" [options]`, `${name} "<task>" [options]`],
      description,
      options: RUN_OPTIONS,
      examples: [
        {
          line: `toolwright ${name} --description "${example}"`,
          does: "In the current folder, with the configured model",
        },
        {
          line: `toolwright ${name} "${example}" --root ../other-project --max-rounds 30`,
          does: "In another folder, with more rounds",
        },
      ],
    }),
    run: (invocation) => runTask(invocation, agent),
  }
}

export const buildCommand = agentCommand(
  "build",
  "builder",
  "Implement a change, test it, correct it and commit it",
  "Gives a change to an agent that writes code. It counts as done only when the tests passed after the last " +
    "change; until then\nno commit is made.",
  "fix add()",
)

export const debugCommand = agentCommand(
  "debug",
  "debugger",
  "Find the cause of a failure and mend it",
  "Gives a failure to an agent that reproduces it, finds its cause and mends it. It counts as done only when " +
    "the tests pass.",
  "npm test fails since yesterday",
)

export const reviewCommand = agentCommand(
  "review",
  "reviewer",
  "Review the changes of this workspace; changes nothing",
  "Gives changes to an agent that reads them and reports what is wrong with them. It has no tool that writes.",
  "review what is not committed yet",
)

export const triageCommand = agentCommand(
  "triage",
  "triager",
  "Say where a problem comes from and how urgent it is; changes nothing",
  "Gives a report of a problem to an agent that finds out where it lies and how urgent it is. It has no tool " +
    "that writes.",
  "uploads of large files time out",
)

export const blogCommand = agentCommand(
  "blog",
  "blog",
  "Write a blog post from a request, as far as newsletter and publishing",
  "Gives a request for a post to an agent that takes the steps which it needs: analysis, research, outline, " +
    "sections, newsletter, posts for\nsocial networks, publishing. Each text is asked of the model by itself; " +
    "docs/blog-tools.md tells what can be set.",
  "a 150-word note on deadlines",
)
