import { ANTHROPIC_URL, LLAMA_SERVER_URL, OLLAMA_URL, OPENAI_URL } from "@toolwright/backends/addresses"

/** Where a backend's server is unless an address is given. */
const USUAL: Readonly<Record<string, string>> = {
  anthropic: ANTHROPIC_URL,
  "openai-responses": OPENAI_URL,
  ollama: OLLAMA_URL,
  "llama-server": LLAMA_SERVER_URL,
}

/** The usual address of a backend's server; nothing for a backend that needs one to be named, or has none. */
export function usualAddress(backend: unknown): string | undefined {
  return typeof backend === "string" && Object.hasOwn(USUAL, backend) ? USUAL[backend] : undefined
}

/** Whether a backend sends what is said away from this machine, though no file says where to. */
export function leavesMachine(backend: unknown): boolean {
  const address = usualAddress(backend)
  return address !== undefined && new URL(address).hostname !== "localhost"
}

/**
 * The address for a backend that was named: the one that is set, where it is meant for this kind of server, else the
 * usual one.
 */
export function addressFor(
  backend: unknown,
  given: { value: unknown; source: string } | undefined,
  env: Readonly<Record<string, string | undefined>>,
): { value: unknown; source: string } | undefined {
  const usual = usualAddress(backend)
  if (usual === undefined) return given
  const meant = given?.source !== "environment OPENAI_BASE_URL" || backend === "openai-responses"
  if (given !== undefined && meant) return given
  const own = backend === "anthropic" ? (env.ANTHROPIC_BASE_URL ?? "") : ""
  return own === "" ? { value: usual, source: "default" } : { value: own, source: "environment ANTHROPIC_BASE_URL" }
}
