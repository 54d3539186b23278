import { AGENT_SCHEMA, type AgentLimits } from "@toolwright/agents"
import type { JsonSchema } from "@toolwright/toolbox"
import type { Grader } from "./graders/grader.ts"
import { closed, text } from "./schema-parts.ts"

/** Tasks that agents are tried at, and how each trial is judged. */
export interface Suite {
  /** A word. */
  name: string
  description?: string
  /** The agent of tasks that name none; `assistant` unless given. */
  agent?: string
  /** What is compared: names of models, or settings of some; the configured model unless given. */
  models?: (string | SuiteModel)[]
  /** The model that judges by rubrics; the configured one unless given. */
  judge?: string | SuiteModel
  /** How often each task is tried with each model; once unless given. */
  trials?: number
  /** The share of trials that must pass, of every model; all of them (1) unless given. */
  threshold?: number
  limits?: AgentLimits
  tasks: Record<string, SuiteTask>
}

/** A model of a suite: settings of `model` in the configuration, which stand in place of those. */
export interface SuiteModel {
  /** What it is called in the results; its name unless given. */
  id?: string
  name?: string
  backend?: string
  baseUrl?: string
  /** Variable that holds its server's key. */
  apiKeyEnv?: string
  /** Files, from the suite's folder. */
  path?: string
  screenplay?: string
  /** A module with a format of one's own. */
  formatFile?: string
  template?: string
  format?: string
  toolCalling?: string
  nativeTools?: boolean
  contextTokens?: number
  temperature?: number
  maxTokens?: number
  seed?: number
}

/** What a model is called in results. */
export function modelId(model: string | SuiteModel): string {
  if (typeof model === "string") return model
  return model.id ?? model.name ?? model.screenplay ?? model.path ?? model.backend ?? model.baseUrl ?? "model"
}

/** A model that is said by its name alone. */
export const asModel = (model: string | SuiteModel): SuiteModel => (typeof model === "string" ? { name: model } : model)

export interface SuiteTask {
  /** What is to be done, in words. */
  task: string
  agent?: string
  trials?: number
  limits?: AgentLimits
  /** A folder, from the suite's own, whose files a trial starts from. */
  from?: string
  /** Files that a trial starts from, by their paths; over those of `from`. */
  files?: Record<string, string>
  /** Whether these stand in a git repository, as its first commit. */
  git?: boolean
  /** Files that the agent owns, where it is one that owns files. */
  owns?: string[]
  /** The form that the answer has to have. */
  output?: JsonSchema
  /** A trial passes where all of them are content. */
  graders: Grader[]
}

const WORD = "^[A-Za-z][A-Za-z0-9_-]{0,59}$"
const MOST_TASKS = 1_000
export const MOST_TRIALS = 1_000
export const MOST_GRADERS = 50

const MODEL: JsonSchema = closed({
  id: text(100),
  name: text(400),
  backend: text(40),
  baseUrl: text(2_000),
  apiKeyEnv: text(200),
  path: text(4_000),
  screenplay: text(4_000),
  template: text(4_000),
  formatFile: text(4_000),
  format: text(100),
  toolCalling: text(40),
  nativeTools: { type: "boolean" },
  contextTokens: { type: "integer", minimum: 1_024 },
  temperature: { type: "number", minimum: 0 },
  maxTokens: { type: "integer", minimum: 1 },
  seed: { type: "integer" },
})

const NAMED_MODEL: JsonSchema = { anyOf: [text(400), MODEL] }
const TRIALS: JsonSchema = { type: "integer", minimum: 1, maximum: MOST_TRIALS }

const TASK: JsonSchema = closed(
  {
    task: text(50_000),
    agent: text(64),
    trials: TRIALS,
    limits: AGENT_SCHEMA.properties!.limits!,
    from: text(4_000),
    files: { type: "object", additionalProperties: { type: "string", maxLength: 1_000_000 }, maxProperties: 200 },
    git: { type: "boolean" },
    owns: { type: "array", items: text(1_000), minItems: 1, maxItems: 100 },
    output: { type: "object" },
    graders: { type: "array", items: { type: "object" }, minItems: 1, maxItems: MOST_GRADERS },
  },
  ["task", "graders"],
)

/** The JSON Schema of a suite, but for what its graders say. */
export const SUITE_SCHEMA: JsonSchema = closed(
  {
    name: { type: "string", pattern: WORD },
    description: text(2_000),
    agent: text(64),
    models: { type: "array", items: NAMED_MODEL, minItems: 1, maxItems: 50 },
    judge: NAMED_MODEL,
    trials: TRIALS,
    threshold: { type: "number", minimum: 0, maximum: 1 },
    limits: AGENT_SCHEMA.properties!.limits!,
    tasks: {
      type: "object",
      propertyNames: { pattern: WORD },
      additionalProperties: TASK,
      minProperties: 1,
      maxProperties: MOST_TASKS,
    },
  },
  ["name", "tasks"],
)
