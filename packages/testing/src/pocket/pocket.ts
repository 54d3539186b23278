import { openPocket, pocketBackend, type Backend, type LlamaBackend } from "@toolwright/backends"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"

export interface PocketModelOptions {
  /** The folder in which it works: its absolute path is kept from the model, which knows relative ones. */
  workspace?: { readonly path: string }
}

/**
 * The pocket model: a real one, decoded token by token in this process, without a network. It knows 18 of the built-in
 * tools and plain requests, and gives the same answer to the same request; it is no measure of what a large model would
 * do. It is opened once in a process and closed with it, so `close()` does nothing.
 *
 * @throws ToolwrightError `MODEL_NOT_FOUND`; see {@link pocketAvailable}
 * @example
 * using project = workspace({ files: { "README.md": "# Hello\n" } })
 * const backend = await pocket({ workspace: project })
 * const run = await runAgent({ task: "show me README.md", backend, workspace: project })
 */
export async function pocket({ workspace }: PocketModelOptions = {}): Promise<Backend> {
  const { engine } = await shared()
  return { ...pocketBackend(engine, workspace?.path), close: () => Promise.resolve() }
}

/**
 * Whether the pocket model works on this machine. `skip` is what a test runner wants to know: `false`, or the reason
 * why not.
 *
 * @example
 * test("reads the file", { skip: (await pocketAvailable()).skip }, async () => { … })
 */
export async function pocketAvailable(): Promise<
  { available: true; skip: false } | { available: false; skip: string }
> {
  try {
    await shared()
    return { available: true, skip: false }
  } catch (thrown) {
    const hint = ToolwrightError.isInstance(thrown) && thrown.hint !== undefined ? ` ${thrown.hint}` : ""
    return { available: false, skip: `The pocket model does not work here: ${messageOf(thrown)}${hint}` }
  }
}

let opened: Promise<LlamaBackend> | undefined

/** The one model of this process. */
function shared(): Promise<LlamaBackend> {
  return (opened ??= open())
}

async function open(): Promise<LlamaBackend> {
  const model = await openPocket()
  process.once("beforeExit", () => {
    opened = undefined
    void model.close?.()
  })
  return model
}
