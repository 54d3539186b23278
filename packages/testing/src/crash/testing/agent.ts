import type { Backend, InferEvent } from "@toolwright/backends"
import { createToolwright, type Toolwright } from "@toolwright/runtime"

/** Where the agent of the crash test works, and whom it calls. */
export interface AgentPlace {
  folder: string
  /** In place of the folder's own. */
  database?: string
  /** A REST tools service, and an MCP server. */
  rest: string
  mcp: string
}

type Call = [name: string, args: object]

/** What the model asks for, round by round; after the last it answers in words. */
export const PLAY: readonly (readonly Call[])[] = [
  [["file_write", { path: "a.txt", content: "one\n" }]],
  [["file_append", { path: "a.txt", content: "two\n" }]],
  [["orders_order", { what: "paper" }]],
  [["file_replace", { path: "a.txt", old_text: "one", new_text: "1" }]],
  [
    ["test", {}],
    ["git_commit", { message: "First" }],
  ],
  [["mails_mail", { to: "ann" }]],
  [["file_write", { path: "b.txt", content: "to be moved\n" }]],
  [["move_file", { source: "b.txt", destination: "c.txt" }]],
  [["orders_stock", { count: 7 }]],
  [
    ["file_append", { path: "a.txt", content: "three\n" }],
    ["file_write", { path: "d.txt", content: "to be deleted\n" }],
  ],
  [["git_create_branch", { branch: "work" }]],
  [["code_edit_insert_at_line", { path: "a.txt", line: 1, content: "zero" }]],
  // Declares nothing of itself.
  [["mails_ring", { bell: "door" }]],
  [["file_delete", { path: "d.txt" }]],
  [
    ["test", {}],
    ["git_commit", { message: "Second\n\nWith a body." }],
  ],
  [
    ["orders_order", { what: "ink" }],
    ["mails_mail", { to: "bob" }],
  ],
  [["create_directory", { path: "sub/deep" }]],
  [["file_write", { path: "sub/deep/e.txt", content: "kept\n" }]],
  [["file_read", { path: "a.txt" }]],
]

export const ANSWER = "All of it is done."

/** Asks for the calls of the round that the conversation has come to, in whichever process. */
function player(): Backend {
  return {
    kind: "mock",
    abilities: { nativeTools: true, grammar: false, jsonSchema: false },
    modelName: () => "player",
    async *infer({ messages }): AsyncGenerator<InferEvent> {
      const round = messages.filter(({ role }) => role === "assistant").length
      const calls = PLAY[round]
      if (calls === undefined) {
        yield { type: "text-delta", text: ANSWER }
        yield { type: "end", finishReason: "stop" }
        return
      }
      for (const [index, [name, args]] of calls.entries())
        yield { type: "call-delta", index, id: `c${round}_${index}`, name, arguments: JSON.stringify(args) }
      yield { type: "end", finishReason: "tool-calls" }
    },
  }
}

export function agentAt({ folder, database, rest, mcp }: AgentPlace): Promise<Toolwright> {
  return createToolwright({
    cwd: folder,
    backend: player(),
    workspace: { roots: [folder] },
    agent: { catalogue: "whole" },
    sources: { rest: { orders: { url: rest, prefix: "orders", keyed: ["order"], idempotent: ["stock"] } } },
    mcp: { servers: { mails: { url: mcp, prefix: "mails", keyed: ["mail"] } } },
    ...(database === undefined ? {} : { runs: { database } }),
  })
}
