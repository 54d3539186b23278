import type { CompletionCriteria } from "../gate/criteria.ts"
import type { AgentProfile, PhaseProfile } from "../profiles/profile.ts"
import type {
  AgentDefinition,
  DoneWhen,
  HandOverDefinition,
  PhaseDefinition,
  PromptLayers,
  ToolChoice,
} from "./definition.ts"

/**
 * The profile that a definition makes of the agent that it starts from. It may ask for more than that one does, and be
 * offered other tools; where it only reads it is offered none that change something, and such calls are refused.
 */
export function profileFrom(name: string, definition: AgentDefinition, base: AgentProfile): AgentProfile {
  const { description, tools, mode, limits, done } = definition
  const layers = { ...base.layers, ...layersOf(definition, base) }
  const owns = mode === undefined ? base.ownsFiles === true : mode === "owns"
  const offered = inMode(definition, tools === undefined ? base.tools : toolsOf(tools, base.tools))
  return {
    ...base,
    name,
    description: description ?? base.description,
    systemPrompt: promptOf(layers),
    layers,
    tools: offered,
    ...(tools?.agents === undefined ? {} : { agents: tools.agents }),
    completion: criteriaOf(done, base.completion),
    changesWorkspace: mode === undefined ? base.changesWorkspace : mode !== "reads",
    ownsFiles: owns,
    ...limitsOf(limits),
    ...(definition.files === undefined ? {} : { files: definition.files }),
    ...(definition.context === undefined ? {} : { context: { ...base.context, ...definition.context } }),
    ...(definition.phases === undefined ? {} : { phases: definition.phases.map((phase) => phaseFrom(phase, offered)) }),
  }
}

/**
 * What would be refused is not offered either; who may change more than the agent that it starts from is offered more.
 */
function inMode({ mode, tools }: AgentDefinition, chosen: AgentProfile["tools"]): AgentProfile["tools"] {
  if (mode === "reads") return { ...chosen, readOnly: true }
  if (mode === undefined || tools?.readOnly !== undefined) return chosen
  const { readOnly: _readOnly, ...rest } = chosen
  return rest
}

function limitsOf({ rounds, tokens, seconds }: NonNullable<AgentDefinition["limits"]> = {}): Partial<AgentProfile> {
  return {
    ...(rounds === undefined ? {} : { maxRounds: rounds }),
    ...(tokens === undefined ? {} : { maxTokens: tokens }),
    ...(seconds === undefined ? {} : { maxSeconds: seconds }),
  }
}

function phaseFrom(
  { name, prompt, tools, mode, rounds, done, handsOver }: PhaseDefinition,
  offered: AgentProfile["tools"],
): PhaseProfile {
  return {
    name,
    ...(prompt === undefined ? {} : { prompt }),
    ...(tools === undefined ? {} : { tools: toolsOf(tools, offered), agents: tools.agents ?? [] }),
    ...(mode === "reads" ? { readOnly: true } : {}),
    ...(rounds === undefined ? {} : { maxRounds: rounds }),
    ...(done === undefined ? {} : { completion: criteriaOf(done, {}) }),
    ...(handsOver === undefined ? {} : handOverOf(handsOver)),
  }
}

function handOverOf({ check, sanitise, ...handsOver }: HandOverDefinition): Partial<PhaseProfile> {
  if (check === undefined && sanitise === undefined) return { handsOver }
  return {
    handsOver,
    judgedBy: { ...(check === undefined ? {} : { check }), ...(sanitise === undefined ? {} : { sanitise }) },
  }
}

function layersOf({ prompt }: AgentDefinition, base: AgentProfile): PromptLayers {
  if (prompt === undefined) return base.layers ?? { identity: base.systemPrompt }
  if (typeof prompt === "string") return { identity: prompt }
  return prompt.identity === undefined && base.layers === undefined
    ? { identity: base.systemPrompt, ...prompt }
    : prompt
}

/** The layers as one text, in their order. */
export function promptOf({ identity, mode, skills = [], output }: PromptLayers): string {
  const parts = [identity, mode, ...skills, output === undefined ? undefined : `Your answer:\n${output.trim()}`]
  return parts.flatMap((part) => (part === undefined || part.trim() === "" ? [] : [part.trim()])).join("\n\n")
}

/** Tools that are named stand in place of the base's sets; what only narrows is laid over them. */
function toolsOf(tools: ToolChoice, base: AgentProfile["tools"]): AgentProfile["tools"] {
  const { sets: _sets, only: _only, ...rest } = base
  const chosen = tools.sets !== undefined || tools.only !== undefined
  const { agents: _agents, ...given } = tools
  return { ...(chosen ? rest : base), ...given }
}

function criteriaOf(done: DoneWhen | undefined, base: CompletionCriteria): CompletionCriteria {
  if (done === undefined) return base
  const { signal, toolUse, change, validation, commit, requiredTools, artifacts, message } = done
  const given = {
    signal,
    requireToolUse: toolUse,
    requireChange: change,
    requireValidation: validation,
    requireCommit: commit,
    requiredTools,
    requiredArtifacts: artifacts,
    successMessage: message,
  }
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return { ...base, ...said }
}
