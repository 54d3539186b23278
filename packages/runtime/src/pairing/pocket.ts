import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { PROFILES } from "@toolwright/agents"
import {
  absentPocketTools,
  nameableTools,
  openPocket,
  POCKET_TOOLS,
  pocketGrounding,
  pocketTools,
  type PocketQuestion,
} from "@toolwright/backends"
import type { ToolDefinition } from "@toolwright/toolbox"
import { formatterById } from "@toolwright/toolformat"
import { beyond } from "./by-hand.ts"
import { commandFor } from "./command.ts"
import { DEFAULT_BACKEND } from "./default-backend.ts"
import type { Pairing, Reading } from "./pairing.ts"

/** Inferences of a run at most: it does two or three steps, and then goes in circles. */
const ROUNDS = 8

/**
 * Tools that are always asked about: they take away what was there, and what a program does nobody knows beforehand.
 */
const ALWAYS = ["bash", "test", "delete_file", "move_file"]

/** What a person can do by hand that it cannot. */
const HANDS = { run: "bash", write: "write_file", removeFolder: "delete_directory" }

/** The built-in pocket model, which needs no network, no key and no download, and is often wrong. */
export const pocketPairing: Pairing = {
  model: "toolwright-pocket",
  backend: DEFAULT_BACKEND,
  open: ({ root, choose, tools }) =>
    openPocket({
      ...(root === undefined ? {} : { root }),
      ...(tools === undefined ? {} : { others: () => ownTools(tools()) }),
      doubting: {
        words: (question) => notSure(question, root),
        beyond: (request) => beyond(request, HANDS, root),
        ...(choose === undefined ? {} : { choose }),
      },
    }),
  toolset(registry, readOnly) {
    const known = pocketTools(registry.view({ splitActions: true, readOnly }).list())
    const absent = POCKET_TOOLS.filter((name) => known.every((tool) => tool.name !== name))
    const own = ownTools(registry.list()).filter((tool) => !readOnly || tool.effects?.readOnly === true)
    return registry.view({ only: [], add: [...known, ...absentPocketTools(absent), ...own] })
  },
  knowsAny: (registry) => pocketTools(registry.list()).length > 0,
  options: ({ agent, model }) => ({
    // Tools are not described to it: they are in its weights, and no prompt of ours reaches it.
    formatter: { ...formatterById("hermes"), formatToolsForPrompt: () => "" },
    grounding: model.grounding === "off" ? "off" : pocketGrounding,
    maxRounds: Math.min(agent.maxRounds, ROUNDS),
    completion: {},
    // It is not shown what it is told, and decides the same on the same.
    loops: { tell: 2, stop: 2 },
    nudges: 0,
    unavailable: [],
  }),
  wary: (root) => [
    ...ALWAYS.map((tool) => ({ tool, permission: "ask" as const })),
    { tool: "write_file", permission: "ask", when: (args) => replaces(root, args) },
  ],
  // Agents that write, debug, review and own files need a model that can; others of an application are its own
  // business.
  canBe: (profile) =>
    profile.name === "assistant" ||
    (!PROFILES.includes(profile) && profile.ownsFiles !== true && profile.phases === undefined),
  words: {
    is: "a demonstration model of 2.9 million parameters (3 MB): it knows 20 tools and is no assistant",
    notice:
      "No model is configured: the built-in pocket model answers (3 MB, 20 tools, for trying out). For a real " +
      "one give --model NAME --base-url URL, or write them into toolwright.yaml.",
    waiting:
      "The model that toolwright.yaml names waits for 'toolwright trust': the built-in pocket model answers (3 MB, 20 " +
      "tools, for trying out).",
    advice:
      "A real model may know what to do, for example one that Ollama serves: --model qwen2.5-coder:7b --base-url " +
      "http://localhost:11434/v1",
    beyond: (request) => beyond(request, HANDS),
    cannotBe: ({ name }) =>
      `The agent '${name}' needs a real model: the built-in pocket model only does plain requests, as 'assistant'.`,
  },
}

/** Tools of the user's own files, which it calls where a request names one. */
function ownTools(tools: readonly ToolDefinition[]): ToolDefinition[] {
  return nameableTools(tools.filter(({ provenance }) => provenance?.kind === "local"))
}

/** Whether a file would be replaced. What cannot be told is taken for a yes. */
function replaces(root: string, { path }: Readonly<Record<string, unknown>>): boolean {
  return typeof path !== "string" || path.startsWith("~") || existsSync(resolve(root, path))
}

/** What is answered in place of a call that it is not sure of. */
function notSure({ readings }: PocketQuestion, root = process.cwd()): string {
  const doubt = "I am not sure what you mean, so I do nothing."
  if (readings.length === 0) return `${doubt} Put it in other words.`
  const costs = (reading: Reading): number => (takenAway(reading, root) === "" ? 0 : 1)
  // The first one is what is typed in a hurry.
  const ordered = readings.toSorted((one, other) => costs(one) - costs(other))
  const asked = ordered.map((reading) => `${shown(reading)}${takenAway(reading, root)}`).join(", or: ")
  const commands = ordered.map((reading) => `  ${commandFor(reading)}`).join("\n")
  return `${doubt} Did you mean: ${asked}? Put it in other words, or type it yourself:\n${commands}`
}

/** What a command would cost whoever types it unread: by hand nothing is asked. */
function takenAway({ name, arguments: args }: Reading, root: string): string {
  if (name === "delete_file") return " (the whole file goes)"
  return name === "write_file" && replaces(root, args) ? " (what the file holds now goes)" : ""
}

function shown({ name, arguments: args }: Reading): string {
  return [name, ...Object.entries(args).map(([key, value]) => `${key}=${JSON.stringify(value)}`)].join(" ")
}
