/** Merges the branch of a task's working tree, and says before it begins: somebody else ends it on the way. */
import { openWorktree } from "../worktree.ts"

const [base, folder, task] = process.argv.slice(2) as [string, string, string]
const tree = await openWorktree(base, folder, task)
await new Promise<void>((resolve) => process.stdout.write("now\n", () => resolve()))
await tree.merge("Merge it")
process.stdout.write("merged\n")
