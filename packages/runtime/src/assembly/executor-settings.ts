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
export function executorSettings({ model, agent }: Configuration, profile: AgentProfile): Partial<ExecutorOptions> {
  const sampling = {
    ...(model.temperature === undefined ? {} : { temperature: model.temperature }),
    ...(model.maxTokens === undefined ? {} : { maxTokens: model.maxTokens }),
    ...(model.seed === undefined ? {} : { seed: model.seed }),
  }
  const { contextTokens, format } = model
  return {
    maxRounds: profile.maxRounds ?? agent.maxRounds,
    toolCalling: model.toolCalling,
    grounding: model.grounding === "always" ? ANNOTATED : model.grounding,
    toolTimeoutMs: agent.toolTimeoutSeconds * 1000,
    completion: { ...profile.completion, ...requiredOf(agent) },
    ...(format === undefined ? {} : { formatter: formatterById(format) }),
    ...(contextTokens === undefined ? {} : { context: compactingContext({ contextTokens }) }),
    ...(Object.keys(sampling).length === 0 ? {} : { sampling }),
  }
}

/** What a configuration asks of every run beside what its agent promises. */
function requiredOf({ requiredTools, requiredArtifacts }: Configuration["agent"]): CompletionCriteria {
  return {
    ...(requiredTools === undefined ? {} : { requiredTools }),
    ...(requiredArtifacts === undefined ? {} : { requiredArtifacts }),
  }
}
