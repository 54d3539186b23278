import type { JsonSchema } from "@toolwright/toolbox"
import { AGENT_SCHEMA, type AgentDefinition, type AgentLimits } from "../definition/definition.ts"

/** Tasks that belong together, and the agents that are made for them. */
export interface Plan {
  /** A word; each start of the plan adds something to it. */
  name: string
  description?: string
  /** What is said anew at each start: `{name}` in a text stands for it. */
  inputs?: Record<string, PlanInput>
  /** Agents that are made by name before anything begins; one that is there and the same is taken as it is. */
  agents?: Record<string, AgentDefinition>
  tasks: Record<string, PlannedTask>
  /** Whether each task is worked on in a git worktree and on a branch of its own, which is merged once it succeeded. */
  worktree?: boolean
}

export interface PlanInput {
  description?: string
  /** What it is where nothing is said; without one it has to be said. */
  default?: string
}

export interface PlannedTask {
  agent: string
  /** What is to be done, in words. */
  task: string
  /** Tasks of the plan that have to be done first. What their files declare is told to the agent. */
  after?: string[]
  /** Higher ones first. */
  priority?: number
  /** How often it may be started before it has failed for good; twice unless given. */
  tries?: number
  limits?: AgentLimits
  /** As of the plan, for this task. */
  worktree?: boolean
}

export const DEFAULT_TRIES = 2
const MOST_TASKS = 500
/** A name of a task stands in ids and in commands. */
const WORD = "^[A-Za-z][A-Za-z0-9_-]{0,39}$"

const text = (most: number): JsonSchema => ({ type: "string", minLength: 1, maxLength: most })
const whole = (minimum: number, maximum: number): JsonSchema => ({ type: "integer", minimum, maximum })

const TASK: JsonSchema = {
  type: "object",
  properties: {
    agent: text(64),
    task: text(50_000),
    after: { type: "array", items: text(40), maxItems: MOST_TASKS },
    priority: whole(-1_000_000, 1_000_000),
    tries: whole(1, 100),
    limits: AGENT_SCHEMA.properties!.limits!,
    worktree: { type: "boolean" },
  },
  required: ["agent", "task"],
  additionalProperties: false,
}

const INPUT: JsonSchema = {
  type: "object",
  properties: { description: text(400), default: { type: "string", maxLength: 20_000 } },
  additionalProperties: false,
}

/** The JSON Schema of a plan, for checks and for editors. */
export const PLAN_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    name: { type: "string", pattern: WORD },
    description: text(2_000),
    inputs: { type: "object", propertyNames: { pattern: WORD }, additionalProperties: INPUT, maxProperties: 50 },
    agents: { type: "object", additionalProperties: AGENT_SCHEMA, maxProperties: MOST_TASKS },
    tasks: {
      type: "object",
      propertyNames: { pattern: WORD },
      additionalProperties: TASK,
      minProperties: 1,
      maxProperties: MOST_TASKS,
    },
    worktree: { type: "boolean" },
  },
  required: ["name", "tasks"],
  additionalProperties: false,
}
