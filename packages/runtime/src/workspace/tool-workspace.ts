import { join, resolve } from "node:path"
import {
  createWorkspace,
  DEFAULT_DENY_READ,
  DEFAULT_DENY_WRITE,
  discoverMounts,
  KEPT_CONTENTS,
  type Workspace,
} from "@toolwright/host/paths"
import { makeStateFolder } from "@toolwright/host/state-files"
import { redactDeep, type Redactor } from "@toolwright/host/text"
import type { ChangeHistory, HistoryConfig } from "@toolwright/host/undo"
import type { Configuration } from "../configuration/settings.ts"
import { redactorFor } from "../secrets/redactor.ts"
import { loadedFiles } from "./loaded-files.ts"
import { workspaceRoot } from "./root.ts"
import { createStateFolder, stateFolderOf } from "./state-folder.ts"
import { userKey } from "./user-key.ts"

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The workspace of a configuration's tools: its folders, what is denied in them, and the history of what is changed.
 *
 * @param cwd the folder that relative roots start from, and the root where none is given
 * @throws ToolwrightError `INVALID_ROOT`
 */
export function toolWorkspace(configuration: Configuration, cwd: string, env: Environment = process.env): Workspace {
  const { workspace, permissions, undo } = configuration
  const written = workspace.roots ?? (workspace.readOnly === undefined ? ["."] : [])
  const roots = written.map((path) => ({ path: resolve(cwd, path), access: "read-write" as const }))
  const readOnly = (workspace.readOnly ?? []).map((path) => ({
    path: resolve(cwd, path),
    access: "read-only" as const,
  }))
  const found = workspace.mounts === "mirrored" ? discoverMounts() : { roots: [], mapping: [] }
  const named = Object.entries(workspace.mapping ?? {}).map(([host, container]) => ({ host, container }))
  // Mounts take the place of the current folder, and stand beside folders that were named.
  const isNamed = workspace.roots !== undefined || workspace.readOnly !== undefined
  const given = found.roots.length > 0 && !isNamed ? [] : [...roots, ...readOnly]
  return createWorkspace({
    roots: [...found.roots, ...given],
    mapping: [...found.mapping, ...named],
    // Whoever reads contents of earlier times would read what has been denied since.
    denyRead: [...DEFAULT_DENY_READ, KEPT_CONTENTS, ...(workspace.denyRead ?? []), ...(permissions.denyPaths ?? [])],
    denyWrite: [...DEFAULT_DENY_WRITE, ...(workspace.denyWrite ?? [])],
    loaded: loadedFiles(configuration, cwd),
    ...(undo.enabled && roots.length > 0 ? { history: historyOf(configuration, cwd, env) } : {}),
  })
}

/**
 * What tools changed in a configuration's workspace, to be looked at, without secrets, and taken back.
 *
 * @returns nothing where no history is kept
 */
export async function changeHistory(
  configuration: Configuration,
  cwd: string,
  env: Environment = process.env,
): Promise<ChangeHistory | undefined> {
  const history = await toolWorkspace(configuration, cwd, env).history?.()
  if (history === undefined) return undefined
  const redact = redactorFor(configuration, env)
  return {
    ...history,
    plan: async (id) => {
      const plan = await history.plan(id)
      return { ...plan, described: redactDeep(plan.described, redact) }
    },
    differences: async (id) => redactDeep(await history.differences(id), redact),
  }
}

function historyOf(configuration: Configuration, cwd: string, env: Environment): HistoryConfig {
  const { keepDays, keepMegabytes } = configuration.undo
  let state: string | undefined
  let key: Buffer | undefined
  let redact: Redactor | undefined
  const stateFolder = (): string => (state ??= stateFolderOf(workspaceRoot(configuration, cwd), true, env).path)
  return {
    folder: () => join(stateFolder(), "undo"),
    makeFolder() {
      createStateFolder(stateFolder())
      makeStateFolder(stateFolder(), "undo")
    },
    key: () => (key ??= userKey(env)),
    // Whatever kinds are shown to the model.
    redact: (text) => (redact ??= redactorFor({ ...configuration, secrets: {} }, env))(text),
    retention: { days: keepDays, bytes: keepMegabytes * 1024 * 1024 },
  }
}
