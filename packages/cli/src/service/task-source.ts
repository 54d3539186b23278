import { givenTask, type Toolwright } from "@toolwright/runtime"
import type { TaskSource } from "@toolwright/server"

/** The tasks of a {@link Toolwright}, for a server. */
export function taskSource({ tasks, agents }: Toolwright): TaskSource {
  return {
    root: tasks.root,
    workspace: tasks.workspace,
    open: () => tasks.open(),
    look: () => tasks.look(),
    shown: (row) => tasks.shown(row),
    async check(agent, { task, files }) {
      const profile = await agents.find(agent)
      givenTask(profile, task, files === undefined ? undefined : await agents.filesFor(profile, files))
    },
  }
}
