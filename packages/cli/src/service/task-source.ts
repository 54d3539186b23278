import { givenTask, type Toolwright } from "@toolwright/runtime"
import type { TaskSource } from "@toolwright/server"

/** The tasks of a {@link Toolwright}, for a server. */
export function taskSource({ tasks, agents }: Toolwright): TaskSource {
  return {
    root: tasks.root,
    workspace: tasks.workspace,
    open: () => tasks.open(),
    look: () => tasks.look(),
    check: async (agent, { task, files }) => void givenTask(await agents.find(agent), task, files),
  }
}
