import { failure, ToolwrightError, type JsonObject, type ToolFailure } from "@toolwright/toolbox"

/** What can go wrong between a URL and its decoded body. */
export type NetworkErrorCode =
  | "INVALID_URL"
  | "BLOCKED_ADDRESS"
  | "BLOCKED_PORT"
  | "DNS_FAILED"
  | "CONNECTION_FAILED"
  | "TOO_MANY_REDIRECTS"
  | "REDIRECT_REFUSED"
  | "RATE_LIMITED"
  | "TIMEOUT"
  | "ABORTED"
  | "RESPONSE_TOO_LARGE"
  | "DECOMPRESSION_BOMB"
  | "RESPONSE_CUT_OFF"
  | "INVALID_RESPONSE"

/** A request that was refused or did not succeed. `retryable` says whether the same request may succeed later. */
export class NetworkError extends ToolwrightError {
  readonly retryable: boolean
  readonly details: JsonObject | undefined

  constructor(
    code: NetworkErrorCode,
    message: string,
    options: { cause?: unknown; hint?: string; retryable?: boolean; details?: JsonObject } = {},
  ) {
    super(code, message, options)
    this.name = "NetworkError"
    this.retryable = options.retryable ?? false
    this.details = options.details
  }
}

/**
 * A thrown network error as the failed result of a tool call.
 *
 * @param what what the tool was about to do, as the beginning of a sentence ("Fetching https://…")
 * @returns the failure; anything that is no {@link NetworkError} is thrown on, for the execute pipeline to report
 */
export function networkFailure(thrown: unknown, what: string): ToolFailure {
  if (!(thrown instanceof NetworkError)) throw thrown
  return failure({
    code: thrown.code,
    message: `${what} failed: ${thrown.message}`,
    retryable: thrown.retryable,
    ...(thrown.hint === undefined ? {} : { hint: thrown.hint }),
    ...(thrown.details === undefined ? {} : { details: thrown.details }),
  })
}
