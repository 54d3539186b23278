import { join } from "node:path"
import { hasModel, profileNamed, type RunRequest, type Toolwright } from "@toolwright/runtime"
import { conversationRoutes, gatewayRoutes } from "@toolwright/server"
import { conversationStore, openDatabase, openStateDatabase } from "@toolwright/store"

/**
 * The routes that need a model: none where none is configured, since the pocket model serves nobody but a person who
 * tries it out.
 */
export async function chatRoutes(toolwright: Toolwright, database: string | undefined, secured: boolean) {
  if (!hasModel(toolwright.configuration)) return WITHOUT_MODEL
  const backend = await toolwright.backend()
  const opened = await (database === undefined
    ? openStateDatabase(join(toolwright.runsFolder, ".."))
    : openDatabase(database))
  const store = conversationStore(opened)
  const assistant = profileNamed("assistant")
  const agent = secured ? assistant : { ...assistant, tools: { ...assistant.tools, readOnly: true } }
  const run = ({ task, ...request }: RunRequest) => toolwright.run(task, { ...request, agent, shared: true })
  return {
    model: backend.modelName(),
    close: () => opened.close(),
    extend: (app: Parameters<typeof gatewayRoutes>[0]) => {
      gatewayRoutes(app, { backend, run })
      conversationRoutes(app, { store, run, modelName: () => backend.modelName() })
    },
  }
}

const WITHOUT_MODEL = {
  model: undefined,
  extend: (app: Parameters<typeof gatewayRoutes>[0]): void => conversationRoutes(app, { store: undefined }),
  close: async (): Promise<void> => {},
}
