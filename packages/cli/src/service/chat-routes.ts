import { hasModel, type AgentProfile, type RunRequest, type Toolwright } from "@toolwright/runtime"
import {
  conversationRoutes,
  gatewayRoutes,
  routesWithoutModel,
  type GatewayAgent,
  type GatewayOptions,
} from "@toolwright/server"
import { conversationStore } from "@toolwright/store"

/** What becomes of calls that a client's model gets wrong, and of more tools than its window has room for. */
export type ClientCalls = Pick<NonNullable<GatewayOptions["answering"]>, "unknownTools" | "repair" | "deferTools">

/**
 * The routes that need a model: none where none is configured, since the pocket model serves nobody but a person who
 * tries it out.
 */
export async function chatRoutes(
  toolwright: Toolwright,
  secured: boolean,
  { clientCalls = {}, log }: { clientCalls?: ClientCalls | undefined; log?: ((line: string) => void) | undefined },
) {
  if (!hasModel(toolwright.configuration)) return WITHOUT_MODEL
  const backend = await toolwright.backend()
  const { database } = await toolwright.log.open()
  const store = conversationStore(database, log === undefined ? {} : { log })
  const agents = toolwright.agents.known.filter(servesClients).map((profile) => agentOf(toolwright, profile, secured))
  const [assistant] = agents
  const { toolCalling: mode, grounding, formatter, grammars } = toolwright.toolUse
  return {
    model: backend.modelName(),
    extend: (app: Parameters<typeof gatewayRoutes>[0]) => {
      gatewayRoutes(app, { backend, agents, answering: { mode, grounding, formatter, grammars, ...clientCalls } })
      conversationRoutes(app, { store, run: assistant!.run, modelName: () => backend.modelName() })
    },
  }
}

const WITHOUT_MODEL = {
  model: undefined,
  extend: (app: Parameters<typeof gatewayRoutes>[0]): void => {
    conversationRoutes(app, { store: undefined })
    routesWithoutModel(app)
  },
}

/**
 * The assistant, which comes first, and agents that change nothing: those that do work in a folder of their own, alone.
 */
function servesClients({ name, changesWorkspace }: AgentProfile): boolean {
  return name === "assistant" || !changesWorkspace
}

function agentOf(toolwright: Toolwright, profile: AgentProfile, secured: boolean): GatewayAgent {
  const agent = secured ? profile : { ...profile, tools: { ...profile.tools, readOnly: true } }
  const run = ({ task, output, ...request }: RunRequest) =>
    toolwright.run(task, {
      ...request,
      ...(output === undefined ? {} : { output: output.schema }),
      agent,
      shared: true,
      surface: "gateway",
    })
  return { name: profile.name, run }
}
