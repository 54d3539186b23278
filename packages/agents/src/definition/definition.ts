import { CONTEXT_STRATEGIES, type ContextStrategy } from "@toolwright/dialogue"
import type { JsonSchema } from "@toolwright/toolbox"

/** An agent as data, as it stands in a file. What is left out is as in the agent that it is made `from`. */
export interface AgentDefinition {
  /** One line for people who choose an agent. */
  description?: string
  /** The agent that it starts from: a shipped one, or one of your own. `assistant` unless given. */
  from?: string
  /** What it is and how it works: a text, or its layers. */
  prompt?: string | PromptLayers
  /** Which of the registered tools it is offered. */
  tools?: ToolChoice
  /** What it may change: nothing (`reads`), the workspace (`writes`), or files of its own (`owns`). */
  mode?: "reads" | "writes" | "owns"
  /** The files that it owns. */
  files?: string[]
  limits?: AgentLimits
  /** What it keeps of a conversation that grows too long for the model's window. */
  context?: ContextChoice
  /** When it counts as done. */
  done?: DoneWhen
  /** The parts of its work, one after another, each with a conversation of its own. */
  phases?: PhaseDefinition[]
}

/** A part of an agent's work. What is left out is as in the agent. */
export interface PhaseDefinition {
  name: string
  /** What is to be done in it. */
  prompt?: string
  tools?: ToolChoice
  /** In a phase that only reads, calls that change something are refused. */
  mode?: "reads" | "writes"
  /** Rounds at most. */
  rounds?: number
  /** What must hold before it may end. */
  done?: Omit<DoneWhen, "signal" | "message">
  /** What it ends with: all that the phases after it are told. A summary unless given, but for the last one. */
  handsOver?: HandOverDefinition
}

/** What a phase hands over. */
export interface HandOverDefinition {
  /** What it is called; as the phase unless given. */
  artifact?: string
  /** A JSON Schema of the type object. */
  schema: JsonSchema
  /** A tool that only reads, by its name: it gets what is handed over, and where it fails the phase goes on. */
  check?: string
  /** A tool that only reads: what it answers as data is handed over in place of what it got. */
  sanitise?: string
}

/** The layers of a prompt, in the order in which the model reads them; the task comes after them. */
export interface PromptLayers {
  /** Who it is. */
  identity?: string
  /** How it works: what it does first, and what it leaves alone. */
  mode?: string
  /** What it knows how to do, one text each. */
  skills?: string[]
  /** What its answer has to be like. */
  output?: string
}

/** Which tools an agent is offered: those of the sets, or those named, or both narrowed. */
export interface ToolChoice {
  sets?: string[]
  only?: string[]
  without?: string[]
  /** Agents that it may ask, by name: each becomes a tool, `ask_<name>`. */
  agents?: string[]
  /** Only tools that change nothing. */
  readOnly?: boolean
  /** Whether each action of a tool is a tool of its own. */
  splitActions?: boolean
}

/** What is kept of a long conversation; as the configuration says unless given. */
export interface ContextChoice {
  strategy?: ContextStrategy
  /** Rounds at the end that are kept whole. */
  keepRounds?: number
}

/** What a run of an agent may take at most. */
export interface AgentLimits {
  rounds?: number
  /** Of requests and replies together. */
  tokens?: number
  seconds?: number
}

/** What must hold before a run counts as completed. */
export interface DoneWhen {
  /** The word by which the model asks to finish. */
  signal?: string
  /** At least one tool has succeeded. */
  toolUse?: boolean
  /** Something was changed. */
  change?: boolean
  /** What was changed has passed the checks since. */
  validation?: boolean
  /** What was changed is committed. */
  commit?: boolean
  /** These tools have succeeded. */
  requiredTools?: string[]
  /** These artifacts were produced. */
  artifacts?: string[]
  /** What the run answers when it succeeds, in place of the model's own words. */
  message?: string
}

const text: JsonSchema = { type: "string", minLength: 1, maxLength: 20_000 }
const words: JsonSchema = { type: "array", items: { type: "string", minLength: 1, maxLength: 400 }, maxItems: 200 }
const flag: JsonSchema = { type: "boolean" }
const count = (most: number): JsonSchema => ({ type: "integer", minimum: 1, maximum: most })
const closed = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: "object",
  properties,
  additionalProperties: false,
})

const TOOLS = closed({ sets: words, only: words, without: words, agents: words, readOnly: flag, splitActions: flag })

const DONE = closed({
  signal: text,
  toolUse: flag,
  change: flag,
  validation: flag,
  commit: flag,
  requiredTools: words,
  artifacts: words,
  message: text,
})

const { signal: _signal, message: _message, ...DONE_OF_PHASE } = DONE.properties as Record<string, JsonSchema>

const PHASE: JsonSchema = {
  ...closed({
    name: { type: "string", pattern: "^[A-Za-z][A-Za-z0-9_-]{0,63}$" },
    prompt: text,
    tools: TOOLS,
    mode: { type: "string", enum: ["reads", "writes"] },
    rounds: count(10_000),
    done: closed(DONE_OF_PHASE),
    handsOver: {
      ...closed({
        artifact: { type: "string", pattern: "^[A-Za-z][A-Za-z0-9_-]{0,63}$" },
        schema: { type: "object" },
        check: text,
        sanitise: text,
      }),
      required: ["schema"],
    },
  }),
  required: ["name"],
}

/** The JSON Schema of a definition, for checks and for editors. */
export const AGENT_SCHEMA: JsonSchema = closed({
  description: { type: "string", maxLength: 400 },
  from: text,
  prompt: {
    anyOf: [
      text,
      closed({
        identity: text,
        mode: text,
        skills: { type: "array", items: text, maxItems: 50 },
        output: text,
      }),
    ],
  },
  tools: TOOLS,
  mode: { type: "string", enum: ["reads", "writes", "owns"] },
  files: words,
  limits: closed({ rounds: count(10_000), tokens: count(1e12), seconds: count(1e9) }),
  context: closed({ strategy: { type: "string", enum: [...CONTEXT_STRATEGIES] }, keepRounds: count(10_000) }),
  done: DONE,
  phases: { type: "array", items: PHASE, minItems: 1, maxItems: 20 },
})
