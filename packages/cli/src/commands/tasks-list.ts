import { lookAtTasks } from "@toolwright/runtime/look"
import { EXIT, type Command } from "../command.ts"
import { isConfigured } from "../configured.ts"
import { noTasks, taskTree } from "../tasks/lines.ts"

/** The one setting that says where tasks are, as a variable. */
const CONFIGURING = ["TOOLWRIGHT_DATABASE"]

/** `tasks list` where nothing is configured: asked for again and again, and it needs little of what tasks need. */
export const plainTasksCommand: Command = {
  name: "tasks",
  summary: "List the tasks",
  usage: "",
  async run(invocation) {
    if (isConfigured(invocation, CONFIGURING)) return (await import("./tasks.ts")).tasksCommand.run(invocation)
    const { args, stdout } = invocation
    const { target, rows } = await lookAtTasks(args[args.indexOf("--database") + 1 || args.length], invocation)
    for (const line of rows.length === 0 ? [noTasks(target)] : taskTree(rows, invocation)) stdout.write(`${line}\n`)
    return EXIT.success
  },
}
