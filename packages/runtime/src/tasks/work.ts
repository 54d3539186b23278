import { join } from "node:path"
import { patternsFor } from "@toolwright/host/paths"
import { sweepWorktrees } from "../isolation/isolated.ts"
import { outsideFolder } from "../workspace/state-folder.ts"
import { createToolwright, type Toolwright, type ToolwrightOptions } from "../toolwright.ts"
import { taskPerformer } from "./perform.ts"
import { startWorker, type Worker, type WorkerOptions } from "./worker.ts"

/** Settings of {@link startTaskWorker}. */
export interface TaskWorkerOptions extends Omit<WorkerOptions, "queue" | "perform" | "within"> {
  /** What the worker works with: its configuration is that of every task. */
  toolwright: Toolwright
  /** How that was made, for tasks in folders below its own. */
  made: ToolwrightOptions
}

/**
 * Starts to work on the tasks of a workspace: runs their agents, goes on with runs whose worker died, and writes down
 * what came of them.
 *
 * @example
 * const made = { model: { baseUrl, name }, workspace: { roots: ["."] } }
 * await using toolwright = await createToolwright(made)
 * await using worker = await startTaskWorker({ toolwright, made, concurrency: 2 })
 */
export async function startTaskWorker({ toolwright, made, ...options }: TaskWorkerOptions): Promise<Worker> {
  const { root } = toolwright.tasks
  const queue = await toolwright.tasks.open()
  const { readOnly, roots = [] } = made.workspace ?? {}
  const at = (folder: string, of: string): Promise<Toolwright> => {
    const patterns = (list: readonly string[] = []): string[] => patternsFor(list, folder, of, root)
    return createToolwright({
      ...made,
      withBuiltins: true,
      cwd: folder,
      workspace: {
        ...made.workspace,
        ...(readOnly !== undefined && roots.length === 0 ? { readOnly: [folder] } : { roots: [folder] }),
        denyRead: patterns(made.workspace?.denyRead),
        denyWrite: patterns(made.workspace?.denyWrite),
      },
      permissions: { ...made.permissions, denyPaths: patterns(made.permissions?.denyPaths) },
      runs: { ...made.runs, database: toolwright.log.target },
    })
  }
  const { env = process.env } = made
  const treesOf = (folder: string): string => join(outsideFolder(folder, env), "worktrees")
  const perform = taskPerformer({ toolwright, root, at, treesOf, env })
  const kept = await sweepWorktrees(root, treesOf(root), queue)
  for (const branch of kept) options.log?.(`what an ended task left is on the branch ${branch}`)
  return startWorker({ ...options, queue, within: root, perform })
}
