import { createScriptedBackend, type Backend, type InferRequest } from "@toolwright/backends"

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]

/**
 * Models of agents that work at the same time: each agent has a screenplay of its own, told apart by the files that it
 * owns.
 */
export interface ModelByAgent extends Backend {
  /** What was asked for each, in order. */
  readonly asked: Map<string, InferRequest[]>
  /** Requests that are under way. */
  readonly open: Set<string>
  /** Steps that nobody asked for. */
  readonly remaining: number
}

/** @param scripts by the first file that the agent owns */
export function modelByAgent(
  scripts: Readonly<Record<string, Steps>>,
  before: (file: string, count: number) => Promise<void> | void = () => {},
): ModelByAgent {
  const plays = new Map(
    Object.entries(scripts).map(([file, steps]) => [
      file,
      createScriptedBackend({ model: "qwen2.5-7b-instruct", abilities: { nativeTools: true }, steps }),
    ]),
  )
  const asked = new Map<string, InferRequest[]>(Object.keys(scripts).map((file) => [file, []]))
  const open = new Set<string>()
  const [any] = plays.values()
  return {
    kind: "scripted",
    abilities: any!.abilities,
    modelName: () => any!.modelName(),
    asked,
    open,
    get remaining() {
      return [...plays.values()].reduce((sum, play) => sum + play.remaining, 0)
    },
    async *infer(request, options) {
      const file = ownedIn(request)
      const play = plays.get(file)
      if (play === undefined) throw new Error(`No screenplay for the owner of '${file}'.`)
      asked.get(file)!.push(request)
      open.add(file)
      try {
        await before(file, asked.get(file)!.length)
        yield* play.infer(request, options)
      } finally {
        open.delete(file)
      }
    },
  }
}

function ownedIn({ messages }: InferRequest): string {
  const first = messages.find(({ role }) => role === "user")?.content ?? ""
  return /You own (?:the files? )?([^\s,]+)/.exec(String(first))?.[1] ?? ""
}
