export { tasksFor, type TaskAccess } from "./access.ts"
export { taskInput, type TaskInput } from "./input.ts"
export { taskView, type TaskView } from "./view.ts"
