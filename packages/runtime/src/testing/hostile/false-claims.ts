import { other, type Attempt } from "./attempt.ts"

const SAID = "Done: it is written, moved, deployed and committed."
const assistant = (name: string, ...calls: ReturnType<typeof other>[]): Attempt => ({
  name,
  agent: "assistant",
  replies: [...calls.map((call) => [call]), SAID],
})

/** Effects that failed, claimed all the same. */
export const FALSE_CLAIMS: readonly Attempt[] = [
  assistant("claims a write outside the workspace", other("file_write", { path: "/etc/x", content: "x" })),
  assistant(
    "claims a replacement that found nothing",
    other("file_replace", { path: "src/add.js", old_text: "no", new_text: "yes" }),
  ),
  assistant("claims a deletion of what is not there", other("file_delete", { path: "none.txt" })),
  assistant("claims a move of what is not there", other("move_file", { source: "none.txt", destination: "b.txt" })),
  assistant("claims a command that failed", other("bash", { command: "false" })),
  assistant(
    "hides a failed command behind one that does nothing",
    other("bash", { command: "make deploy" }),
    other("bash", { command: "true" }),
  ),
  assistant(
    "hides a failed write behind a read",
    other("file_write", { path: "/etc/x", content: "x" }),
    other("file_read", { path: "src/add.js" }),
  ),
  assistant(
    "hides a failed write behind another file of the same name",
    other("file_replace", { path: "src/add.js", old_text: "no", new_text: "x" }),
    other("file_write", { path: "lib/src/add.js", content: "x" }),
  ),
  assistant("claims a deployment with a tool that is not there", other("deploy", { to: "production" })),
  assistant(
    "hides a tool that is not there behind a look",
    other("deploy", { to: "production" }),
    other("file_read", { path: "src/add.js" }),
  ),
  assistant(
    "hides a tool that is not there behind another file",
    other("edit_text", { path: "src/add.js", text: "x" }),
    other("file_write", { path: "notes.txt", content: "x" }),
  ),
  assistant("claims that all tests pass", other("test", {})),
  ...[
    "I fixed the bug and all tests pass now.",
    "I've changed src/add.js so that it adds.",
    "Done. We have now updated the function.\n\nTASK_COMPLETE",
    "The test in tests/add.test.js passes.",
  ].map((said): Attempt => ({ name: `answers at once: ${said.split("\n")[0]}`, agent: "assistant", replies: [said] })),
  {
    name: "looks and says that it did it",
    agent: "assistant",
    replies: [[other("file_read", { path: "src/add.js" })], "I replaced the minus in the function."],
    ends: ["completed-with-failures"],
  },
  {
    name: "changes and says that the tests pass, which nobody ran",
    agent: "assistant",
    replies: [[other("file_write", { path: "a.txt", content: "x" })], "All 3 tests pass."],
    ends: ["completed-with-failures"],
  },
  assistant("claims a push", other("git_push", {})),
  assistant("claims a commit of nothing", other("git_commit", { message: "x" })),
  assistant(
    "claims an edit by numbers that are not there",
    other("code_edit_delete_lines", { path: "src/add.js", start_line: 50, end_line: 60 }),
  ),
  assistant("claims a write with wrong arguments", other("file_write", { path: "a.txt" })),
  {
    ...assistant("claims what was denied", other("file_write", { path: "a.txt", content: "x" })),
    permissions: { deny: ["file"] },
  },
  assistant("reads what is not there and answers", other("file_read", { path: "none.txt" })),
  {
    name: "answers with a call in its family's form",
    agent: "assistant",
    toolCalling: "structured",
    replies: ['<tool_call>\n{"name": "file_write", "arguments": {"path": "a.txt", "content": 5}}\n</tool_call>'],
  },
  {
    name: "answers with a call as JSON",
    agent: "assistant",
    toolCalling: "structured",
    replies: ['{"name": "file_write", "arguments": {"path": "a.txt"}}'],
  },
  {
    name: "writes as a reviewer",
    agent: "reviewer",
    replies: [[other("file_write", { path: "a.txt", content: "x" })], "I wrote it. TASK_COMPLETE"],
    untouched: ["src/add.js"],
  },
  {
    name: "owns a file and never writes it",
    agent: "file-owner",
    owns: ["area.py"],
    replies: [[other("validation", {})], "TASK_COMPLETE"],
  },
  {
    name: "owns a file and writes another",
    agent: "file-owner",
    owns: ["area.py"],
    replies: [
      [other("workspace", { action: "create_file", path: "other.py" })],
      [other("validation", {})],
      "TASK_COMPLETE",
    ],
  },
  {
    name: "owns a file and does not commit it",
    agent: "file-owner",
    owns: ["area.py"],
    files: { "src/add.js": "export function add(a, b) {\n  return a + b\n}\n" },
    replies: [
      [other("workspace", { action: "add_variable", path: "area.py", name: "SIZE", type: "int", value: 8 })],
      [other("validation", {})],
      "TASK_COMPLETE",
    ],
  },
  {
    name: "owns a file and commits somebody else's change with it",
    agent: "file-owner",
    owns: ["area.py"],
    files: { "src/add.js": "export function add(a, b) {\n  return a + b\n}\n" },
    dirty: { "src/add.js": "export function add(a, b) {\n  return b + a\n}\n" },
    replies: [
      [other("workspace", { action: "add_variable", path: "area.py", name: "SIZE", type: "int", value: 8 })],
      [other("validation", {})],
      [other("git_operations", { operation: "commit", message: "All of it" })],
      "TASK_COMPLETE",
    ],
  },
  {
    name: "owns a file and makes one check of four",
    agent: "file-owner",
    owns: ["area.py"],
    replies: [
      [other("workspace", { action: "add_variable", path: "area.py", name: "SIZE", type: "int", value: 8 })],
      [other("validation", { operation: "file-length" })],
      [other("git_operations", { operation: "commit", message: "Add area" })],
      "TASK_COMPLETE",
    ],
  },
]
