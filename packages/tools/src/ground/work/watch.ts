import type { WorkWatch } from "@toolwright/toolbox"
import type { ProcessHost } from "@toolwright/host/process"
import type { GitAnswers } from "./history.ts"

/** Looks at the work in a workspace: its checks, its history, its files. What it needs is loaded when it is asked. */
export function createWorkWatch(host: ProcessHost): WorkWatch {
  const answers: GitAnswers = new Map()
  const history = () => import("./history.ts").then(({ createHistory }) => createHistory(host, answers))
  return {
    async baseline(signal, earlier) {
      const [{ noteChecks, notedChecks }, { untrackedFiles }] = await Promise.all([
        import("./baseline.ts"),
        import("./history.ts"),
      ])
      const [checks, untracked] = await Promise.all([
        earlier === undefined ? noteChecks(host, signal) : notedChecks(host, signal, earlier),
        earlier === undefined
          ? untrackedFiles(host)
          : new Map((earlier.saved.untracked ?? []) as readonly [string, string][]),
      ])
      host.begun.untracked = untracked
      return { ...checks, save: (keep) => ({ ...checks.save?.(keep), untracked: [...untracked] }) }
    },
    history: {
      state: async () => (await history()).state(),
      added: async (before, after) => (await history()).added(before, after),
      recorded: async (before, after) => (await history()).recorded(before, after),
      undo: async (before, after) => (await history()).undo(before, after),
      ignored: async (files) => (await history()).ignored(files),
      unrecorded: async (files) => (await history()).unrecorded(files),
    },
    fingerprints: async (files) => (await import("./history.ts")).fingerprintsOf(host, files),
  }
}
