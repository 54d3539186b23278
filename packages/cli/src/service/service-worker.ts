import { hasModel, startTaskWorker, type Toolwright, type ToolwrightOptions } from "@toolwright/runtime"

/** How long tasks may take to end once the server is told to stop; another worker goes on with what takes longer. */
const DRAIN_MS = 10_000

/** Works on tasks beside a server, where there is a model for it and somebody may queue one. */
export async function serviceWorker(
  toolwright: Toolwright,
  made: ToolwrightOptions,
  { concurrency, secured, log }: { concurrency: number; secured: boolean; log: (line: string) => void },
): Promise<AsyncDisposable> {
  if (concurrency === 0 || !secured || !hasModel(toolwright.configuration))
    return { [Symbol.asyncDispose]: async () => {} }
  const worker = await startTaskWorker({ toolwright, made, concurrency, log })
  return { [Symbol.asyncDispose]: () => worker.drain(DRAIN_MS) }
}
