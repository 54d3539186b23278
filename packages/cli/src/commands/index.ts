import type { Command, CommandEntry } from "../command.ts"

/** The plain list is asked for most, and needs none of the tools themselves. */
async function loadTools(args: readonly string[] = ["--help"]): Promise<Command> {
  const plain = args.length === 0 || (args.length === 1 && args[0] === "list")
  return plain ? (await import("./tools-list.ts")).plainListCommand : (await import("./tools.ts")).toolsCommand
}

/** The plain list is asked for again and again, also by scripts that wait. */
async function loadTasks(args: readonly string[] = ["--help"]): Promise<Command> {
  const rest = args[0] === "list" ? args.slice(1) : args
  const plain = rest.length === 0 || (rest.length === 2 && rest[0] === "--database" && /^[^-]/.test(rest[1]!))
  return plain ? (await import("./tasks-list.ts")).plainTasksCommand : (await import("./tasks.ts")).tasksCommand
}

/**
 * Every command, in the order of the help. Adding one is a file in this folder and a line here; nothing is loaded until
 * used.
 */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "run",
    summary: "Give a task to a model that has the tools of this workspace",
    load: async () => (await import("./run.ts")).runCommand,
  },
  {
    name: "build",
    summary: "Implement a change, test it, correct it and commit it",
    load: async () => (await import("./agent-runs.ts")).buildCommand,
  },
  {
    name: "debug",
    summary: "Find the cause of a failure and mend it",
    load: async () => (await import("./agent-runs.ts")).debugCommand,
  },
  {
    name: "review",
    summary: "Review the changes of this workspace; changes nothing",
    load: async () => (await import("./agent-runs.ts")).reviewCommand,
  },
  {
    name: "triage",
    summary: "Say where a problem comes from and how urgent it is; changes nothing",
    load: async () => (await import("./agent-runs.ts")).triageCommand,
  },
  {
    name: "blog",
    summary: "Write a blog post from a request, as far as newsletter and publishing",
    load: async () => (await import("./agent-runs.ts")).blogCommand,
  },
  {
    name: "chat",
    summary: "Talk to a model that has the tools of this workspace",
    load: async () => (await import("./chat.ts")).chatCommand,
  },
  { name: "tools", summary: "List the tools, show one, or call one by hand", load: loadTools },
  {
    name: "agents",
    summary: "Make agents that own files, list all agents, show or remove one",
    load: async () => (await import("./agents.ts")).agentsCommand,
  },
  {
    name: "tasks",
    summary: "Add, list, show, cancel or retry tasks for workers",
    load: loadTasks,
  },
  {
    name: "plan",
    summary: "Start tasks that build on each other, see how they go on, stop or resume them",
    load: async () => (await import("./plan.ts")).planCommand,
  },
  {
    name: "eval",
    summary: "Try a suite of tasks with agents and models, and judge what comes of it",
    load: async () => (await import("./eval.ts")).evalCommand,
  },
  {
    name: "work",
    summary: "Work on the tasks that wait, until it is stopped",
    load: async () => (await import("./work.ts")).workCommand,
  },
  {
    name: "runs",
    summary: "List the recorded runs, show one, or write it as files",
    load: async () => (await import("./runs.ts")).runsCommand,
  },
  {
    name: "resume",
    summary: "Go on with a run that was interrupted",
    load: async () => (await import("./resume.ts")).resumeCommand,
  },
  {
    name: "branch",
    summary: "Go on from the middle of a run, otherwise than it did",
    load: async () => (await import("./branch.ts")).branchCommand,
  },
  {
    name: "approvals",
    summary: "Show what runs ask, and answer it",
    load: async () => (await import("./approvals.ts")).approvalsCommand,
  },
  {
    name: "audit",
    summary: "Check that the records are as they were written",
    load: async () => (await import("./audit.ts")).auditCommand,
  },
  {
    name: "db",
    summary: "Show, bring up to date or export the database of runs",
    load: async () => (await import("./db.ts")).dbCommand,
  },
  {
    name: "undo",
    summary: "Take back what a run or a call changed",
    load: async () => (await import("./undo.ts")).undoCommand,
  },
  {
    name: "init",
    summary: "Make a project with a tool of your own, its test and a configuration",
    load: async () => (await import("./init.ts")).initCommand,
  },
  {
    name: "new",
    summary: "Make a tool, an agent, a format or a prompt, to be changed into your own",
    load: async () => (await import("./new.ts")).newCommand,
  },
  {
    name: "demo",
    summary: "Watch a small model answer requests, and an agent write, fail, correct and commit; offline",
    load: async () => (await import("./demo.ts")).demoCommand,
  },
  {
    name: "doctor",
    summary: "Find out what a model's server is, and whether the model calls tools when it is asked to",
    load: async () => (await import("./doctor.ts")).doctorCommand,
  },
  {
    name: "format",
    summary: "Show how model families write tool calls, read a raw reply, render a prompt",
    load: async () => (await import("./format.ts")).formatCommand,
  },
  {
    name: "grammar",
    summary: "Turn a JSON Schema into a grammar, or check grammars and instances",
    load: async () => (await import("./grammar.ts")).grammarCommand,
  },
  {
    name: "serve",
    summary: "Serve the tools and prompts over HTTP",
    load: async () => (await import("./serve.ts")).serveCommand,
  },
  {
    name: "ui",
    summary: "Open the console: call tools, watch runs, look into what happened",
    load: async () => (await import("./ui.ts")).uiCommand,
  },
  {
    name: "mcp",
    summary: "Serve the tools and prompts to an MCP host over standard input and output",
    load: async () => (await import("./mcp.ts")).mcpCommand,
  },
  {
    name: "prompts",
    summary: "List the prompts, show one, or render one",
    load: async () => (await import("./prompts.ts")).promptsCommand,
  },
  {
    name: "config",
    summary: "Show the configuration in force, and where each value comes from",
    load: async () => (await import("./config.ts")).configCommand,
  },
  {
    name: "trust",
    summary:
      "Trust the toolwright.yaml of a folder, or a server's changed tools, as they stand; list that, or take it back",
    load: async () => (await import("./trust.ts")).trustCommand,
  },
  {
    name: "completion",
    summary: "Write the script that completes commands and options in bash, zsh or fish",
    load: async () => (await import("./completion.ts")).completionCommand(COMMANDS),
  },
]
