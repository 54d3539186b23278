import type { CompactionOptions } from "@toolwright/dialogue"
import type { ViewOptions } from "@toolwright/toolbox"
import type { PromptLayers } from "../definition/definition.ts"
import type { CompletionCriteria } from "../gate/criteria.ts"
import type { Phase } from "../phases/phase.ts"

/** What kind of agent runs a task: what it is told, which tools it is offered, and when it counts as done. */
export interface AgentProfile {
  readonly name: string
  /** One line for people who choose an agent. */
  readonly description: string
  /** What the agent is and how it works; tools are described by the executor, from the registry. */
  readonly systemPrompt: string
  /** The layers that it is made of, where it is made of some. */
  readonly layers?: PromptLayers
  /** Which of the registered tools it is offered. Write tools only where they are needed. */
  readonly tools: ViewOptions
  /**
   * The sets whose tools are declared where not all have room, those that matter most first; {@link ESSENTIAL_SET}
   * and {@link FINDING_SET} unless given. The others are found by a search; `all` has all of them there, in short.
   */
  readonly declared?: readonly string[] | "all"
  readonly completion: CompletionCriteria
  readonly maxRounds?: number
  /** Tokens of requests and replies together, after which no further round begins. */
  readonly maxTokens?: number
  /** Time after which no further round begins. */
  readonly maxSeconds?: number
  /**
   * Whether it may change the workspace, so that only one such run works in it at a time. Where it may not, calls that
   * change something are refused, whichever tools it is offered.
   */
  readonly changesWorkspace: boolean
  /** Whether it owns files: it is told which, and calls that write others are refused. */
  readonly ownsFiles?: boolean
  /** Kits of tools without which it has nothing to work with. */
  readonly kits?: readonly string[]
  /** The files that it owns, where they are always the same. */
  readonly files?: readonly string[]
  /** What it keeps of a conversation that grows too long; as the configuration says unless given. */
  readonly context?: Omit<CompactionOptions, "contextTokens" | "countTokens">
  /** Agents that it may ask: each is a tool of it, `ask_…`. */
  readonly agents?: readonly string[]
  /** The parts of its work, where it has some: each with a conversation of its own. */
  readonly phases?: readonly PhaseProfile[]
}

/** A part of an agent's work. What is left out is as in the agent. */
export interface PhaseProfile extends Pick<
  Phase,
  "name" | "prompt" | "maxRounds" | "readOnly" | "completion" | "handsOver"
> {
  readonly tools?: ViewOptions
  readonly declared?: AgentProfile["declared"]
  readonly agents?: AgentProfile["agents"]
  /** Tools that judge what it hands over, by their names. */
  readonly judgedBy?: { readonly check?: string; readonly sanitise?: string }
}

/** The tools that nearly every task needs. */
export const ESSENTIAL_SET = "essential"
/** Those that find files; where there is no room, a command does it too. */
export const FINDING_SET = "finding"

/** The word by which a coding agent asks to finish. */
export const TASK_COMPLETE = "TASK_COMPLETE"
