import type { Toolwright } from "@toolwright/runtime"
import type { AgentSource } from "@toolwright/server"
import { ToolwrightError } from "@toolwright/toolbox"

/** The agents of a {@link Toolwright}, for a server; one that is shown says what it is offered here. */
export function agentSource(toolwright: Toolwright): AgentSource {
  const { agents } = toolwright
  return {
    list: () => agents.list(),
    create: (agent) => agents.create(agent),
    remove: (name) => agents.remove(name),
    show: async (name) => ({ ...(await agents.show(name)), ...(await offeredTo(toolwright, name)) }),
  }
}

/** Nothing of an agent that cannot run as it is: one whose base is gone is shown all the same. */
async function offeredTo({ agents, toolsFor }: Toolwright, name: string): Promise<{ tools?: string[] }> {
  try {
    const tools = toolsFor(await agents.find(name)).list()
    return { tools: tools.map((tool) => tool.name) }
  } catch (thrown) {
    if (ToolwrightError.isInstance(thrown)) return {}
    throw thrown
  }
}
