import { givenTask, profileNamed, PROFILES, type Toolwright } from "@toolwright/runtime"
import type { TaskSource } from "@toolwright/server"

/** The tasks of a {@link Toolwright}, for a server. */
export function taskSource({ tasks }: Toolwright): TaskSource {
  return {
    root: tasks.root,
    workspace: tasks.workspace,
    agents: PROFILES.map(({ name, description, changesWorkspace, ownsFiles = false }) => ({
      name,
      description,
      changesWorkspace,
      ownsFiles,
    })),
    open: () => tasks.open(),
    look: () => tasks.look(),
    check: (agent, { task, files }) => void givenTask(profileNamed(agent), task, files),
  }
}
