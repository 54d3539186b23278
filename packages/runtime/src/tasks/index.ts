export { taskInput, taskView, type TaskInput, type TaskView } from "@toolwright/store"
export { tasksFor, type TaskAccess } from "./access.ts"
