import {
  ANNOTATED,
  compactingContext,
  type AgentProfile,
  type CompletionCriteria,
  type ExecutorOptions,
} from "@toolwright/agents"
import { formatterById } from "@toolwright/toolformat"
import type { Configuration } from "../configuration/settings.ts"

/** What a configuration and a profile say of an executor, before its tools, its model and its rules. */
export function executorSettings(
  { model, agent, runs }: Configuration,
  profile: AgentProfile,
): Partial<ExecutorOptions> {
  const sampling = {
    ...(model.temperature === undefined ? {} : { temperature: model.temperature }),
    ...(model.maxTokens === undefined ? {} : { maxTokens: model.maxTokens }),
    ...(model.seed === undefined ? {} : { seed: model.seed }),
  }
  const { contextTokens, reasoningTokens } = model
  const { contextStrategy: strategy, keepRounds } = agent
  const compaction = { strategy, ...(keepRounds === undefined ? {} : { keepRounds }), ...profile.context }
  return {
    ...roundsOf(profile, agent.maxRounds),
    ...(profile.maxTokens === undefined ? {} : { maxTokens: profile.maxTokens }),
    ...(profile.maxSeconds === undefined ? {} : { maxSeconds: profile.maxSeconds }),
    ...toolUseOf({ model }),
    toolTimeoutMs: agent.toolTimeoutSeconds * 1000,
    completion: { ...profile.completion, ...requiredOf(agent) },
    ...(contextTokens === undefined ? {} : { context: compactingContext({ ...compaction, contextTokens }) }),
    compaction,
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...(runs.tokens ? { recordTokens: true } : {}),
    ...(agent.toolBias ? { toolBias: true } : {}),
    ...(Object.keys(sampling).length === 0 ? {} : { sampling }),
  }
}

/** Of an agent that works in phases each has rounds of its own, and all together only where it says so. */
function roundsOf({ maxRounds, phases }: AgentProfile, usual: number): Partial<ExecutorOptions> {
  const most = maxRounds ?? (phases === undefined ? usual : undefined)
  return most === undefined ? {} : { maxRounds: most }
}

/** How tools are told to the model, and calls read. */
export function toolUseOf({
  model,
}: Pick<Configuration, "model">): Pick<ExecutorOptions, "toolCalling" | "grounding" | "formatter"> {
  const { toolCalling, grounding, format, formatFile } = model
  return {
    toolCalling,
    grounding: grounding === "always" ? ANNOTATED : grounding,
    ...(format === undefined || formatFile !== undefined ? {} : { formatter: formatterById(format) }),
  }
}

/** What a configuration asks of every run beside what its agent promises. */
function requiredOf({ requiredTools, requiredArtifacts }: Configuration["agent"]): CompletionCriteria {
  return {
    ...(requiredTools === undefined ? {} : { requiredTools }),
    ...(requiredArtifacts === undefined ? {} : { requiredArtifacts }),
  }
}
