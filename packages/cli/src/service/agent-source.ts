import type { Toolwright } from "@toolwright/runtime"
import type { AgentSource } from "@toolwright/server"

/** The agents of a {@link Toolwright}, for a server; one that is shown says what it is offered here. */
export function agentSource(toolwright: Toolwright): AgentSource {
  const { agents } = toolwright
  return {
    list: () => agents.list(),
    create: (agent) => agents.create(agent),
    remove: (name) => agents.remove(name),
    async show(name) {
      const [view, profile] = await Promise.all([agents.show(name), agents.find(name)])
      return {
        ...view,
        tools: toolwright
          .toolsFor(profile)
          .list()
          .map((tool) => tool.name),
      }
    },
  }
}
