/** Opening databases and listing tasks, without the rest: quick to load, for whoever only looks. */
export type { Database } from "./database/database.ts"
export { isPostgres, openDatabase, openStateDatabase, STATE_DATABASE } from "./database/open.ts"
export { listTasks } from "./tasks/list.ts"
export type { TaskRow } from "./tasks/task.ts"
export { shownTask } from "./tasks/view.ts"
