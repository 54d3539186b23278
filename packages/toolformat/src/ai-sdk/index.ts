/**
 * Gives any AI SDK model any of our formats: tools go into the prompt as the model family was trained to read them, and
 * calls are read out of its text, streamed or not. For models behind servers that do not parse calls, or parse them
 * wrongly.
 */
import type { ParseProblem, ParserOptions, ToolFormatter } from "../model/formatter.ts"
import { formatterById, getFormatter } from "../selector/index.ts"
import { callIdsIn, definitionsOf, writeParams } from "./prompt.ts"
import { readContent, readStream, toolCallsReason, type ReplySettings } from "./reply.ts"
import type { CallParams, GenerateResult, ModelInfo, StreamResult } from "./types.ts"

/** Settings of the middleware. */
export interface ToolFormatMiddlewareOptions extends Omit<ParserOptions, "tools"> {
  /** A format's id or alias, or a formatter. Chosen by the model's name unless given. */
  format?: string | ToolFormatter
  /** Adds the format's stop sequences to those of the call. Off unless set, since some servers take only a few. */
  addStopSequences?: boolean
  /** Hears of everything in an answer that was not as the format has it. */
  onProblem?: (problem: ParseProblem) => void
}

/** A language-model middleware for `wrapLanguageModel` of ai@6 and ai@7. */
export interface ToolFormatMiddleware {
  readonly specificationVersion: "v3"
  transformParams<Params extends object>(options: { params: Params; model: ModelInfo }): Promise<Params>
  wrapGenerate<Result extends object>(options: {
    doGenerate: () => PromiseLike<Result>
    params: object
    model: ModelInfo
  }): Promise<Result>
  wrapStream<Result extends StreamResult>(options: {
    doStream: () => PromiseLike<Result>
    params: object
    model: ModelInfo
  }): Promise<Result>
}

/**
 * Makes the middleware.
 *
 * @throws ToolwrightError `UNKNOWN_FORMAT` for an id that no format has
 * @example
 * const middleware = toolFormatMiddleware({ format: "qwen3-xml" })
 * const model = wrapLanguageModel({ model: provider("qwen3-coder"), middleware })
 * const { text } = await generateText({ model, tools, prompt: "…" })
 */
export function toolFormatMiddleware(options: ToolFormatMiddlewareOptions = {}): ToolFormatMiddleware {
  const { format, addStopSequences = false, onProblem, ...parserOptions } = options
  const fixed = typeof format === "string" ? formatterById(format) : format
  const formatterFor = (model: ModelInfo): ToolFormatter => fixed ?? getFormatter(model.modelId)
  // What was taken out of the parameters, by the parameters that came of it.
  const originals = new WeakMap<object, CallParams>()

  function settingsFor(params: object, model: ModelInfo): ReplySettings | undefined {
    const original = originals.get(params)
    if (original === undefined) return undefined
    const tools = definitionsOf(original)
    const parser = formatterFor(model).createParser({ ...parserOptions, tools })
    return { parser, tools, taken: callIdsIn(original.prompt), onProblem }
  }

  return {
    specificationVersion: "v3",
    async transformParams<Params extends object>({
      params,
      model,
    }: {
      params: Params
      model: ModelInfo
    }): Promise<Params> {
      const given = params as unknown as CallParams
      const formatter = formatterFor(model)
      const offered = given.toolChoice?.type === "none" ? [] : definitionsOf(given)
      const written = writeParams(formatter, given, offered, addStopSequences ? formatter.stop : [])
      // Without tools there is nothing to read: text that looks like a call stays text.
      if (offered.length > 0) originals.set(written, given)
      return written as unknown as Params
    },
    async wrapGenerate<Result extends object>({
      doGenerate,
      params,
      model,
    }: {
      doGenerate: () => PromiseLike<Result>
      params: object
      model: ModelInfo
    }): Promise<Result> {
      const settings = settingsFor(params, model)
      const result = await doGenerate()
      if (settings === undefined) return result
      const given = result as unknown as GenerateResult
      const { content, hasCalls } = await readContent(given.content, settings)
      return { ...result, content, finishReason: hasCalls ? toolCallsReason(given.finishReason) : given.finishReason }
    },
    async wrapStream<Result extends StreamResult>({
      doStream,
      params,
      model,
    }: {
      doStream: () => PromiseLike<Result>
      params: object
      model: ModelInfo
    }): Promise<Result> {
      const settings = settingsFor(params, model)
      const result = await doStream()
      return settings === undefined ? result : { ...result, stream: result.stream.pipeThrough(readStream(settings)) }
    },
  }
}
