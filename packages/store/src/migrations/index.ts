import type { Migration } from "kysely/migration"
import { runLog } from "./0001-run-log.ts"
import { taskClaims } from "./0002-task-claims.ts"
import { owner } from "./0003-owner.ts"
import { agentNames } from "./0004-agent-names.ts"
import { ownedNames } from "./0005-owned-names.ts"
import { about } from "./0006-about.ts"
import { askedRuns } from "./0007-asked-runs.ts"
import { newestTasks } from "./0008-newest-tasks.ts"
import { openRuns } from "./0009-open-runs.ts"
import { listed } from "./0010-listed.ts"
import { newestPlans } from "./0011-newest-plans.ts"

/**
 * In this order; a name never changes once it was released. `names.ts` lists them without loading the query builder.
 */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  "0001-run-log": runLog,
  "0002-task-claims": taskClaims,
  "0003-owner": owner,
  "0004-agent-names": agentNames,
  "0005-owned-names": ownedNames,
  "0006-about": about,
  "0007-asked-runs": askedRuns,
  "0008-newest-tasks": newestTasks,
  "0009-open-runs": openRuns,
  "0010-listed": listed,
  "0011-newest-plans": newestPlans,
}
