import { join } from "node:path"
import type { AgentProfile } from "@toolwright/agents"
import { STATE_DATABASE } from "@toolwright/store/state"
import { ToolwrightError } from "@toolwright/toolbox/errors"
import type { Configuration } from "../configuration/settings.ts"
import { lockWorkspace } from "../workspace/lock.ts"
import { workspaceRoot } from "../workspace/root.ts"
import { ownerOf } from "../workspace/user-key.ts"
import { createStateFolder, outsideFolder, stateFolderOf } from "../workspace/state-folder.ts"

/** Where runs work, and where they leave their records. */
export interface Place {
  /** The folder that tools work in first. */
  readonly root: string
  /** Whether tools may write there. */
  readonly writable: boolean
  /** The database of the workspace's own state. */
  readonly stateDatabase: string
  /** The folder for state where what lies in the workspace is not the user's. */
  readonly outside: string
  /** Marks a database of this workspace as this user's. */
  readonly owner: (id: string) => string
  /** Gets a line for what a person should know. */
  readonly log: (line: string) => void
  /**
   * Takes the workspace for a run that may change it, for as long as it lasts.
   *
   * @throws ToolwrightError `WORKSPACE_BUSY`, `WORKSPACE_READ_ONLY`
   */
  take(profile: AgentProfile, runId: string): Disposable
}

/** What {@link placeOf} takes from its surroundings. */
export interface PlaceOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether there are tools that work in a folder at all. */
  readonly withBuiltins: boolean
  log(line: string): void
}

/** Finds out where runs work under a configuration; nothing is created before something is written. */
export function placeOf(
  configuration: Pick<Configuration, "workspace">,
  { cwd, env, withBuiltins, log }: PlaceOptions,
): Place {
  const root = workspaceRoot(configuration, cwd)
  const { readOnly, roots = [] } = configuration.workspace
  const mayWrite = readOnly === undefined || roots.length > 0
  const writable = !withBuiltins || mayWrite
  // Whoever looks at records without any tool finds them where those with tools left them.
  const state = stateFolderOf(root, mayWrite, env)
  if (state.reason !== undefined) log(state.reason)
  return {
    root,
    writable,
    stateDatabase: join(state.path, STATE_DATABASE),
    get outside() {
      return outsideFolder(root, env)
    },
    owner: ownerOf(root, env),
    log,
    take(profile, runId) {
      if (!withBuiltins || !profile.changesWorkspace) return NOTHING_TAKEN
      if (writable) {
        createStateFolder(state.path)
        return lockWorkspace(state.reason === undefined ? join(root, ".toolwright") : state.path, runId)
      }
      if (profile.completion.requireValidation) throw readOnlyFor(profile, root)
      return NOTHING_TAKEN
    },
  }
}

const NOTHING_TAKEN: Disposable = { [Symbol.dispose]: () => {} }

function readOnlyFor(profile: AgentProfile, root: string): ToolwrightError {
  return new ToolwrightError(
    "WORKSPACE_READ_ONLY",
    `The agent '${profile.name}' changes the workspace, and ${root} is read-only.`,
    {
      hint: "Give a folder that it may write with --root, or use an agent that only reads ('review', 'triage').",
    },
  )
}
