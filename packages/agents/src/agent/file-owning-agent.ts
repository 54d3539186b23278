import type { RunEvent, RunSummary } from "@toolwright/toolbox"
import { DynamicExecutor } from "../executor/executor.ts"
import type { ExecutorOptions } from "../executor/options.ts"
import { FILE_OWNER_DONE, fileOwnerProfile } from "../profiles/file-owner.ts"
import { givenTask } from "../profiles/owned.ts"

/** What such an agent is asked, in the form that goes over the wire. */
export interface AgentRequest {
  message: string
  task_type: string
}

/** What it answers. `content` is a sentence for people; what was done stands in the run's record. */
export interface AgentResponse {
  success: boolean
  content: string
  agent_id: string
  task_type: string
}

/** Who the agent is and what it runs on. */
export interface FileOwningAgentOptions extends Omit<ExecutorOptions, "completion" | "tools"> {
  agentId: string
  /** The files it owns: it may write these and no other. */
  specializedFiles: readonly [string, ...string[]]
  /** All registered tools; it is offered those of the set `owner` among them. */
  tools: { view(options: typeof fileOwnerProfile.tools): ExecutorOptions["tools"] }
  /** Takes the workspace for a run, for as long as it lasts. */
  take?: (runId: string) => Disposable
  /** Gets a line for each executed tool. */
  log?: (line: string) => void
}

/**
 * An agent that owns a file and keeps it right: implements, validates, corrects and commits it through structured
 * tools.
 */
export class FileOwningAgent {
  readonly agentId: string
  readonly #options: FileOwningAgentOptions

  constructor(options: FileOwningAgentOptions) {
    this.agentId = options.agentId
    this.#options = options
  }

  /** Carries out a request and tells what happens; returns the response. */
  async *run(
    request: AgentRequest,
    options: { runId?: string; signal?: AbortSignal } = {},
  ): AsyncGenerator<RunEvent, AgentResponse> {
    const { agentId, specializedFiles, tools, log, take, ...parts } = this.#options
    const runId = options.runId ?? crypto.randomUUID()
    using _lock = take?.(runId)
    const { task, access, completion } = givenTask(fileOwnerProfile, request.message, specializedFiles)
    const executor = new DynamicExecutor({ ...parts, tools: tools.view(fileOwnerProfile.tools), access, completion })
    const events = executor.run({
      task,
      systemPrompt: fileOwnerProfile.systemPrompt,
      agent: agentId,
      ...options,
      runId,
    })
    let step = await events.next()
    while (!step.done) {
      if (step.value.type === "tool-end") log?.(`Tool ${step.value.name} executed: ${step.value.result.success}`)
      yield step.value
      step = await events.next()
    }
    return this.#respond(request, step.value)
  }

  /** Carries out a request. */
  async handle(request: AgentRequest, options?: { runId?: string; signal?: AbortSignal }): Promise<AgentResponse> {
    const events = this.run(request, options)
    let step = await events.next()
    while (!step.done) step = await events.next()
    return step.value
  }

  #respond(request: AgentRequest, summary: RunSummary): AgentResponse {
    const content = summary.success ? FILE_OWNER_DONE : summary.message
    return { success: summary.success, content, agent_id: this.agentId, task_type: request.task_type }
  }
}
