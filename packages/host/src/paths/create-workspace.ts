import { HAS_DESCRIPTOR_PATHS } from "./descriptors.ts"
import { createPathPolicy } from "./policy.ts"
import type { Root } from "./roots.ts"
import type { ChangeHistory } from "../undo/history.ts"
import type { Workspace, WorkspaceConfig, WorkspaceOperations } from "./workspace.ts"

/**
 * Checks the configuration; how files are opened, written and walked is loaded with the first use.
 *
 * @throws ToolwrightError `INVALID_ROOT`
 * @example
 * const workspace = createWorkspace({ roots: [{ path: "/my/project", access: "read-write" }] })
 * const { bytes } = await workspace.read("src/index.ts")
 */
export function createWorkspace(config: WorkspaceConfig): Workspace {
  const hidden: Root[] = []
  const { loaded: given = [], ...rules } = config
  const loaded = typeof given === "function" ? given : () => given
  const policy = createPathPolicy({ ...rules, loaded }, hidden)
  let loading: Promise<WorkspaceOperations> | undefined
  let keeping: Promise<ChangeHistory> | undefined
  const { history: kept } = config
  const history =
    kept === undefined
      ? undefined
      : () => (keeping ??= import("../undo/history.ts").then(({ createHistory }) => createHistory(kept, policy)))
  const load = () =>
    (loading ??= import("./operations.ts").then(async ({ createOperations }) =>
      createOperations(policy, hidden, config.stateDirectory, await history?.()),
    ))
  return {
    roots: policy.roots,
    checkedBy: HAS_DESCRIPTOR_PATHS ? "descriptor" : "name",
    policy,
    get loaded() {
      return loaded()
    },
    ...(history === undefined ? {} : { history }),
    locate: (path, access) => policy.locate(path, access),
    realPath: async (...args) => (await load()).realPath(...args),
    open: async (...args) => (await load()).open(...args),
    read: async (...args) => (await load()).read(...args),
    write: async (...args) => (await load()).write(...args),
    update: async (...args) => (await load()).update(...args),
    stat: async (...args) => (await load()).stat(...args),
    list: async (...args) => (await load()).list(...args),
    walk: async (...args) => (await load()).walk(...args),
    inDirectory: async (...args) => (await load()).inDirectory(...args),
    makeDirectory: async (...args) => (await load()).makeDirectory(...args),
    removeFile: async (...args) => (await load()).removeFile(...args),
    removeDirectory: async (...args) => (await load()).removeDirectory(...args),
    move: async (...args) => (await load()).move(...args),
    recover: async () => (await load()).recover(),
    outputDirectory: async () => (await load()).outputDirectory(),
  }
}
