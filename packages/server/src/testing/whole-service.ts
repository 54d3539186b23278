import { parsePrompt, PromptRegistry } from "@toolwright/prompts"
import { conversationStore, openDatabase, runLog, taskQueue } from "@toolwright/store"
import { defineTool, ToolRegistry } from "@toolwright/toolbox"
import { approvalRoutes, conversationRoutes, createApp, type ServerOptions } from "../index.ts"

const PLAN = { id: "p", state: "done", tasks: {}, begunAt: "2026-01-01T00:00:00.000Z", steps: [] }
const EVALUATION = {
  id: "e",
  suite: "s",
  startedAt: "2026-01-01T00:00:00.000Z",
  state: "done",
  threshold: 1,
  reached: true,
  planned: 0,
  open: 0,
  models: [],
  tasks: [],
  trials: [],
}
const tools = new ToolRegistry()
for (const [name, tags] of [
  ["note", ["writing"]],
  ["look", ["reading"]],
] as const)
  tools.register(
    defineTool({ name, description: name, tags: [...tags], parameters: { type: "object" }, execute: () => "done" }),
  )

/** A service with everything that can be served, over a database in memory. */
export async function wholeService(more: Partial<ServerOptions> = {}) {
  const database = await openDatabase(":memory:")
  const log = runLog(database)
  const queue = taskQueue(database)
  const prompts = new PromptRegistry()
  prompts.register(await parsePrompt("name: greet\ndescription: Greets\ntemplate: Hello\n", "greet.yaml"))
  const started = async (): Promise<string> => "r1"
  const app = createApp(
    {
      tools,
      tokens: [{ token: "whole-token" }, { token: "narrow-token", tags: ["reading"] }],
      runs: { look: async () => log, open: async () => log },
      starter: {
        agents: async () => [],
        start: started,
        branch: started,
        resume: started,
        stop: () => true,
        answered: async () => {},
      },
      tasks: {
        root: "/",
        workspace: undefined,
        open: async () => queue,
        look: async () => queue,
        check: async () => {},
      },
      evaluations: { list: async () => [], show: async () => EVALUATION },
      plans: {
        check: async () => ({}),
        start: async () => PLAN,
        list: async () => [],
        show: async () => PLAN,
        cancel: async () => PLAN,
        retry: async () => PLAN,
      },
      agents: {
        list: async () => [{ name: "assistant", description: "Answers" }],
        show: async () => ({ name: "assistant" }),
        create: async () => ({ name: "mine" }),
        remove: async () => ({ name: "mine" }),
      } as never,
      connections: {
        list: async () => ({
          model: { examinable: false },
          sources: [{ kind: "mcp", name: "m", state: "away", reason: "gone", tools: 0 }],
          database: { kind: "sqlite", place: ":memory:", state: "open", runs: 0 },
          unavailable: [],
          tools: 2,
        }),
        examine: async () => ({}),
      },
      prompts,
      ...more,
    },
    (extended) => {
      approvalRoutes(extended, async () => database)
      conversationRoutes(extended, {
        store: conversationStore(database),
        // oxlint-disable-next-line require-yield
        run: async function* () {
          throw new Error("no model")
        } as never,
        modelName: () => "m",
      })
    },
  )
  const ask = (path: string, token = "whole-token", init: RequestInit = {}) =>
    app.request(`http://127.0.0.1${path}`, {
      ...init,
      headers: {
        host: "127.0.0.1",
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        ...(init.headers as Record<string, string> | undefined),
      },
    })
  return { app, ask, database, log, queue }
}
