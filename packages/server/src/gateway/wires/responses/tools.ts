import type { JsonObject } from "@toolwright/toolbox"
import type { OpenAITool } from "@toolwright/toolformat"
import { customTool, GrammarRoom, isObject } from "../../fields.ts"
import { RequestProblem } from "../../wire.ts"

/** A tool as the client calls it: Codex keeps those of MCP servers and agents in namespaces. */
export interface ClientName {
  name: string
  namespace?: string
}

/**
 * What a client offers: functions, custom tools as functions of one text, and those of namespaces. The model is told
 * one name of each, which leads back to the client's. What OpenAI would run itself is not there.
 */
export class OfferedTools {
  readonly tools: OpenAITool[] = []
  readonly leftOut: string[] = []
  /** The names of those that OpenAI's search would find: ours does. */
  readonly deferred: string[] = []
  readonly #custom = new Set<string>()
  /** What the model is told of the client's, by namespace and name. */
  readonly #ofNamespaces = new Map<string, string>()
  readonly #told = new Set<string>()
  readonly #room = new GrammarRoom()
  readonly #clients = new Map<string, ClientName>()

  /** @throws RequestProblem */
  constructor(list: unknown) {
    if (list !== undefined && list !== null && !Array.isArray(list))
      throw new RequestProblem("'tools' must be a list.", "tools")
    const searched = (list ?? []).some(isTheirSearch)
    for (const [at, tool] of (list ?? []).entries()) this.#add(tool, `tools[${at}]`, undefined)
    if (!searched) this.deferred.length = 0
  }

  /** Whether a tool's input is one text and no JSON. */
  isCustom(told: string): boolean {
    return this.#custom.has(told)
  }

  /** The client's name of what the model was told. */
  clientName(told: string): ClientName {
    return this.#clients.get(told) ?? { name: told }
  }

  /** What the model is told of a client's tool; its name where it is not on offer any more. */
  toldName(name: string, namespace: unknown): string {
    if (typeof namespace !== "string") return name
    return this.#ofNamespaces.get(JSON.stringify([namespace, name])) ?? name
  }

  #add(tool: unknown, at: string, namespace: string | undefined): void {
    const { type, name, tools: inner } = (isObject(tool) ? tool : {}) as JsonObject
    if (type === "namespace" && Array.isArray(inner)) {
      for (const [index, one] of inner.entries()) this.#add(one, `${at}.tools[${index}]`, String(name))
      return
    }
    if (type === "function" || type === "custom") this.#offer(tool as JsonObject, at, namespace)
    else if (!isTheirSearch(tool)) this.leftOut.push(`tools.${String(type)}`)
  }

  #offer(tool: JsonObject, at: string, namespace: string | undefined): void {
    const { type, name, description, parameters } = tool
    if (typeof name !== "string") throw new RequestProblem("Every tool needs a name.", `${at}.name`)
    const told = this.#nameFor(name, namespace)
    if (type === "custom") this.#custom.add(told)
    if (tool.defer_loading === true) this.deferred.push(told)
    if (type === "custom") {
      const { tool: one, grammarLeft } = customTool({ name: told, description, format: tool.format }, this.#room)
      this.tools.push(one)
      if (grammarLeft) this.leftOut.push(`${at}.format`)
      return
    }
    const schema = isObject(parameters) ? parameters : { type: "object" }
    this.tools.push({
      type: "function",
      function: { name: told, description: String(description ?? ""), parameters: schema },
    })
  }

  /** Two namespaces may have tools of one name. */
  #nameFor(name: string, namespace: string | undefined): string {
    const taken = this.#told.has(name)
    const told = taken && namespace !== undefined ? `${namespace}__${name}` : name
    this.#told.add(told)
    if (namespace === undefined) return told
    this.#clients.set(told, { name, namespace })
    const client = JSON.stringify([namespace, name])
    if (!this.#ofNamespaces.has(client)) this.#ofNamespaces.set(client, told)
    return told
  }
}

/** A search that OpenAI would run; one that the client runs itself is another matter. */
function isTheirSearch(tool: unknown): boolean {
  return isObject(tool) && tool.type === "tool_search" && tool.execution !== "client"
}
