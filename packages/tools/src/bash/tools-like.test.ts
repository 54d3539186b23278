import { rulingFor } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { createBuiltinTools } from "../builtin.ts"

const tools = createBuiltinTools({ roots: [{ path: import.meta.dirname, access: "read-write" }] })
const ruling = (deny: string, name: string, args: object, more: object[] = []) =>
  rulingFor(
    { rules: [...more, { tool: deny, permission: "deny" }] as never },
    tools.find((tool) => tool.name === name)!,
    args as Record<string, unknown>,
  ).permission

test.each([
  ["git_commit", "git", { action: "commit", message: "x" }],
  ["git_commit", "git_operations", { operation: "commit", message: "x" }],
  ["git_operations_commit", "git_operations", { operation: "commit", message: "x" }],
  ["git", "git_operations", { operation: "status" }],
  ["git_commit", "bash", { command: "git commit -m x" }],
  ["git_commit", "bash", { command: "git -C . 'commit' -m x" }],
  ["git_commit", "bash", { command: "env A=1 git co''mmit -m x" }],
  ["git_push", "bash", { command: "cd x && git push" }],
  ["delete_file", "file", { action: "delete", path: "a" }],
  ["file_delete", "delete_file", { path: "a" }],
  ["delete_file", "bash", { command: "ls; rm a" }],
  ["write_file", "file", { action: "write", path: "a", content: "" }],
  ["write_file", "bash", { command: "echo x > a" }],
  ["edit_file", "code_edit", { path: "a" }],
  ["read_text_file", "file", { action: "read", path: "a" }],
])("a rule that denies %s holds for %s %o", (deny, name, args) => {
  expect(ruling(deny, name, args)).toBe("deny")
})

test("what is not denied stays allowed, and no rule allows a thing by another's name", () => {
  expect(ruling("git_commit", "git_operations", { operation: "status" })).toBe("allow")
  expect(ruling("git_commit", "bash", { command: "echo commit" })).toBe("allow")
  expect(ruling("delete_file", "file", { action: "read", path: "a" })).toBe("allow")
  const allow = [
    { tool: "*", permission: "deny" },
    { tool: "git_status", permission: "allow" },
  ] as const
  const bash = tools.find(({ name }) => name === "bash")!
  expect(rulingFor({ rules: allow }, bash, { command: "git status; rm -rf ." }).permission).toBe("deny")
})
