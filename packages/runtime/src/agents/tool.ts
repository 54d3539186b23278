import { FILE_OWNER_DONE, givenTask } from "@toolwright/agents"
import { defineMultiActionTool, type ActionSpecification } from "@toolwright/host"
import {
  ENDED_STATES,
  inputOf,
  taskInput,
  taskView,
  TASK_STATES,
  type TaskRow,
  type TaskState,
} from "@toolwright/store"
import {
  failure,
  success,
  ToolwrightError,
  type JsonObject,
  type ToolDefinition,
  type ToolResult,
} from "@toolwright/toolbox"
import type { Toolwright } from "../toolwright.ts"

/** The bundle that an outer assistant asks for to be given this tool. */
export const AGENTS_BUNDLE = "agents"

const text = (description: string) => ({ type: "string", minLength: 1, description })
const AGENT = text("Name of the agent")
const TASK = text("Id of the task")
const DEFAULT_TYPE = "code_generation"
const READS = { readOnly: true } as const

/**
 * Agents and their tasks as one tool, for an assistant that lets others work: it makes agents, queues tasks for them,
 * and asks what became of them. A worker does the work.
 */
export function agentsTool(toolwright: Toolwright): ToolDefinition {
  return defineMultiActionTool({
    name: "agents",
    sets: [AGENTS_BUNDLE],
    title: "Agents",
    description: "Agents that work by themselves: make one that owns files, queue a task for it, ask what came of it",
    category: "orchestration",
    optionality: "optional",
    argument: "action",
    effects: { readOnly: false, writes: [] },
    actions: { ...agentActions(toolwright), ...taskActions(toolwright) },
    outputSchema: { type: "object" },
  })
}

function agentActions({ agents, tasks }: Toolwright): Record<string, ActionSpecification> {
  return {
    list: action("List the agents", {}, READS, async () => ({ agents: await agents.list() })),
    info: action("Show an agent", { agent: AGENT }, READS, async ({ agent }) => ({
      ...(await agents.show(String(agent))),
    })),
    stats: action("Count the tasks by their state", {}, READS, async () => ({
      tasks: (await (await tasks.look())?.counts()) ?? {},
    })),
    create: action(
      "Make an agent that owns files: it writes these and no others",
      {
        name: text("Its name: letters, digits, _ and -"),
        specialized_files: {
          type: "array",
          items: { type: "string" },
          minItems: 1,
          description: "The files that it owns",
        },
      },
      {},
      async ({ name, specialized_files: files }) => ({
        ...(await agents.create({ name: String(name), files: files as string[] })),
      }),
    ),
  }
}

function taskActions({ agents, tasks }: Toolwright): Record<string, ActionSpecification> {
  const found = async (id: unknown): Promise<TaskRow> => (await tasks.open()).find(String(id))
  return {
    queue_task: action(
      "Queue a task for an agent; its id is the answer, at once",
      {
        agent: AGENT,
        message: text("What is to be done, complete in itself"),
        task_type: text("What kind of work it is"),
      },
      {},
      async ({ agent, message, task_type: type = DEFAULT_TYPE }) => {
        const input = taskInput({ task: message, type })
        givenTask(await agents.find(String(agent)), input.task)
        const { workspace } = tasks
        const row = await (
          await tasks.open()
        ).add({
          agent: String(agent),
          input,
          ...(workspace === undefined ? {} : { workspace }),
        })
        return { task_id: row.id, status: row.state, depth: row.depth }
      },
      ["agent", "message"],
    ),
    task_status: action("Say how a task stands", { task_id: TASK }, READS, async ({ task_id: id }) => {
      const { id: task_id, state, depth, agent, reason } = await found(id)
      return { task_id, status: state, depth, agent, ...(reason === null ? {} : { reason }) }
    }),
    task_result: action("Give what came of a task", { task_id: TASK }, READS, async ({ task_id: id }) =>
      resultOf(await found(id)),
    ),
    list_tasks: action(
      "List tasks, newest first",
      { agent: AGENT, status: { type: "string", enum: [...TASK_STATES], description: "Only tasks in this state" } },
      READS,
      async ({ agent, status }) => {
        const filter = {
          ...(agent === undefined ? {} : { agent: String(agent) }),
          ...(status === undefined ? {} : { state: status as TaskState }),
        }
        return { tasks: ((await (await tasks.look())?.list(filter)) ?? []).map((row) => taskView(tasks.shown(row))) }
      },
      [],
    ),
  }
}

/** What a task answers, in the form of the wire (`AgentResponse`). */
function resultOf(row: TaskRow): JsonObject {
  if (!ENDED_STATES.includes(row.state)) {
    throw new ToolwrightError("TASK_OPEN", `The task ${row.id} is ${row.state}: it has no result yet.`, {
      hint: "Ask how it stands with task_status, and come back.",
    })
  }
  const { message = "", modifiedFiles = [] } = JSON.parse(row.result ?? "{}") as {
    message?: string
    modifiedFiles?: string[]
  }
  const done = row.state === "done"
  const { type = DEFAULT_TYPE } = inputOf(row)
  const content = done && type === DEFAULT_TYPE ? FILE_OWNER_DONE : message || (row.reason ?? row.state)
  return { success: done, content, agent_id: row.agent, task_type: type, modified_files: modifiedFiles }
}

/** An action whose errors are results, and that needs all its arguments unless it says which. */
function action(
  description: string,
  properties: NonNullable<ActionSpecification["properties"]>,
  effects: NonNullable<ActionSpecification["effects"]>,
  execute: (args: JsonObject) => Promise<JsonObject>,
  required: string[] = Object.keys(properties),
): ActionSpecification {
  return {
    description,
    properties,
    required,
    effects,
    async execute(args): Promise<ToolResult> {
      try {
        return success({ data: await execute(args) })
      } catch (thrown) {
        if (!ToolwrightError.isInstance(thrown)) throw thrown
        const { code, message, hint } = thrown
        return failure({ code, message, ...(hint === undefined ? {} : { hint }) })
      }
    },
  }
}
