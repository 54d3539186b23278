import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import {
  recordBackend,
  wrapBackend,
  type Backend,
  type InferRequest,
  type ScriptedFailure,
  type ScreenplayStep,
} from "@toolwright/backends"
import { ToolwrightError } from "@toolwright/toolbox"
import type { TestModel } from "../model.ts"
import { originOf, type Origin } from "../origin.ts"
import type { RequestPart } from "./difference.ts"
import { nameOf, readRecording, writeRecording } from "./file.ts"
import { createMask, maskReply, maskValue, type Mask } from "./mask.ts"
import { modeFor, type Update } from "./mode.ts"
import { replay } from "./replay.ts"
import { plainRequest, withShortGrammar, type PlainRequest } from "./request.ts"

export interface RecordingOptions {
  /**
   * The real model, or what makes it; a function is called only to record, so that a replay needs neither key nor
   * server.
   */
  backend?: Backend | (() => Backend | Promise<Backend>)
  /** Records anew (`true`), or where there is no file (`missing`), in place of the variable `TOOLWRIGHT_RECORD`. */
  update?: Update
  /** A folder that is another in each run; it is written `<workspace>`. */
  workspace?: { readonly path: string }
  /** Other texts that are another in each run, by the name that is written for them. */
  names?: Readonly<Record<string, string>>
  /** Texts that must not be written, besides what looks like a key and what stands in variables such as `…_API_KEY`. */
  secrets?: readonly string[]
  /**
   * Makes texts of requests the same that differ from run to run, such as times, before they are written and compared.
   */
  stable?: (text: string) => string
  /** Parts of requests that may be others than recorded. */
  ignore?: readonly RequestPart[]
}

/** A model that was recorded, or that is being recorded. */
export interface RecordedModel extends TestModel, AsyncDisposable {
  readonly kind: "recording"
  readonly mode: "record" | "replay"
  /** Writes the file when it records, and closes the model behind it. */
  close(): Promise<void>
}

/**
 * A real model, recorded once and replayed ever after: with `TOOLWRIGHT_RECORD=1` the backend is asked and its replies
 * are written to the file, otherwise the file answers, event by event as the model did. A replayed request must be the
 * recorded one: messages, tools, grammar, sampling; ids of calls do not count. An error shows what is different.
 *
 * What looks like a key never reaches the file. A recording in which the model failed is not written.
 *
 * @param file a YAML file; it is also a screenplay (see docs/screenplays.md)
 * @throws ToolwrightError `RECORDING_MISSING` when there is nothing to replay, `RECORDING_INVALID`. Its `infer` throws
 *   `RECORDING_CHANGED` and `RECORDING_EXHAUSTED`, its `done()` these again and `RECORDING_UNPLAYED`, and
 *   `RECORDING_FAILED` while recording
 * @example
 * const backend = await recording(new URL("weather.yaml", import.meta.url), {
 *   backend: () => createOpenAICompatibleBackend({ baseUrl, modelName, apiKey }),
 * })
 * const run = await runAgent({ task: "Will it rain in Oslo?", backend, tools: [getWeather] })
 */
export async function recording(file: string | URL, options: RecordingOptions = {}): Promise<RecordedModel> {
  const placed = originOf(recording)
  const path = typeof file === "string" ? resolve(file) : fileURLToPath(file)
  const { backend, update, workspace, names = {}, secrets = [], stable = (text: string) => text, ignore = [] } = options
  const mask = createMask({
    names: { ...(workspace === undefined ? {} : { workspace: workspace.path }), ...names },
    secrets,
  })
  const plain = (request: InferRequest): PlainRequest =>
    withShortGrammar(maskValue(plainRequest(request), (text) => stable(mask.hide(text))))
  if (modeFor(path, update) === "record") {
    if (backend === undefined)
      throw new ToolwrightError(
        "RECORDING_INVALID",
        `${nameOf(path)} cannot be recorded: give recording() the 'backend' to record.`,
      )
    return record(path, typeof backend === "function" ? await backend() : backend, { plain, mask, placed })
  }
  const model = replay(path, await readRecording(path), {
    ignore,
    plain,
    placed,
    show: (text, json) => mask.show(text, json),
  })
  const close = (): Promise<void> => Promise.resolve()
  return { ...model, kind: "recording", close, [Symbol.asyncDispose]: close }
}

/** What recording needs of the settings. */
interface RecordParts {
  plain(request: InferRequest): PlainRequest
  mask: Mask
  placed: Origin
}

function record(path: string, backend: Backend, { plain, mask, placed }: RecordParts): RecordedModel {
  const recorder = recordBackend(backend, { expectations: false, sent: plain })
  const failed = () => failureIn(recorder.screenplay().steps)
  const done = (): void => {
    const failure = failed()
    if (failure === undefined) return
    const message =
      `${nameOf(path)} was not written, since the model failed: ${failure.code}: ` +
      `${mask.hide(failure.message ?? "")}`
    throw placed(new ToolwrightError("RECORDING_FAILED", message))
  }
  const close = async (): Promise<void> => {
    const { steps, ...head } = recorder.screenplay()
    if (steps.length > 0 && failed() === undefined) {
      const masked = steps.map(({ reply }) => ({
        reply: typeof reply === "string" ? reply : maskReply(reply, (text) => mask.hide(text)),
      }))
      await writeRecording(path, {
        screenplay: { ...head, steps: masked },
        requests: steps.map(({ sent }) => sent as PlainRequest),
      })
    }
    await recorder.close?.()
  }
  return wrapBackend(recorder, {
    kind: "recording" as const,
    mode: "record" as const,
    done,
    close,
    [Symbol.asyncDispose]: close,
  })
}

/** A refused request. */
const REFUSED = new Set<string | undefined>(["MODEL_REQUEST_REJECTED", "CONSTRAINT_UNSUPPORTED"])

/**
 * A failure for which a recording is worth nothing: any but a refused request that the agent then made otherwise, which
 * is how it goes.
 */
function failureIn(steps: readonly ScreenplayStep[]): ScriptedFailure | undefined {
  const failures = steps.map(({ reply }) => (typeof reply === "string" ? undefined : reply.error))
  return failures.find(
    (failure, at) => failure !== undefined && (!REFUSED.has(failure.code) || at === failures.length - 1),
  )
}
