export type { GuardedFetch, GuardedRequest, GuardedResponse, NetworkPolicy } from "./guarded-fetch.ts"
export { NetworkError, networkFailure } from "./network-error.ts"
export {
  type JsonAnswer,
  type NetworkHost,
  asObject,
  asText,
  createNetworkHost,
  redact,
  requestJson,
} from "./network-host.ts"
export { HTML_CHARSET, XML_CHARSET, cleanLine, cleanText, decodeDocument, truncate, withoutMarkup } from "./text.ts"
