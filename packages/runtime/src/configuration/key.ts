import { ANTHROPIC_URL, OPENAI_URL } from "@toolwright/backends/addresses"
import type { Setting } from "./setting.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** A value with the place that it comes from. */
interface Sourced {
  readonly value: unknown
  readonly source: string
}

/** What is known of keys and addresses when one of each is chosen. */
export interface KeyInputs {
  readonly env: Environment
  /** The address in force. */
  readonly address: Sourced | undefined
  /** What the file says, as far as it takes effect. */
  readonly file: { readonly path: string; readonly values: ReadonlyMap<string, unknown> } | undefined
  /** Name of the variable that the user said the key is in. */
  readonly variable: Sourced | undefined
}

/** The key that goes with an address. */
export interface ChosenKey {
  readonly key?: { value: string; source: string }
  /** Why a key that is there is not sent. */
  readonly withheld?: string
}

/** Whose a key is, by the variable that it is in. */
const OPENAI = new URL(OPENAI_URL).origin

/**
 * Chooses the key for the address in force. A key belongs to a provider, and is sent nowhere else: `OPENAI_API_KEY` to
 * OpenAI, or where `OPENAI_BASE_URL` says; `ANTHROPIC_API_KEY` to Anthropic likewise; `TOOLWRIGHT_API_KEY` where
 * `TOOLWRIGHT_BASE_URL` says, or where the user does; a file's to the address in the same file. Whoever wants one to go
 * elsewhere names its variable.
 */
export function keyFor(setting: Setting, { env, address, file, variable }: KeyInputs): ChosenKey {
  if (variable !== undefined) {
    const value = env[String(variable.value)] ?? ""
    return value === ""
      ? { withheld: `${String(variable.value)} is not set, which ${variable.source} names for the model's key.` }
      : { key: { value, source: `environment ${String(variable.value)}` } }
  }
  const to = originOf(address?.value)
  const given = [
    ...(setting.env ?? []).map((name) => ({
      value: env[name] ?? "",
      source: `environment ${name}`,
      name,
      homes: homesOf(name, env),
    })),
    {
      value: String(file?.values.get(setting.key) ?? ""),
      source: `file ${file?.path}`,
      name: `the key in ${file?.path}`,
      homes: present([originOf(file?.values.get("model.baseUrl"))]),
    },
  ].filter(({ value }) => value !== "")
  const fitting = given.find(({ homes }) => to === undefined || homes.length === 0 || homes.includes(to))
  if (fitting !== undefined) return { key: { value: fitting.value, source: fitting.source } }
  const [first] = given
  if (first === undefined) return {}
  return {
    withheld:
      `${first.name} is not sent to ${to}: it belongs to ${first.homes.join(" or ")}. If it is meant for both, ` +
      "name its variable: --api-key-env NAME.",
  }
}

/** The origins that a variable's key is for; none where it is for any address that the user names. */
function homesOf(name: string, env: Environment): string[] {
  if (name === "OPENAI_API_KEY") return present([OPENAI, originOf(env.OPENAI_BASE_URL)])
  if (name === "ANTHROPIC_API_KEY") return present([originOf(ANTHROPIC_URL), originOf(env.ANTHROPIC_BASE_URL)])
  return present([originOf(env.TOOLWRIGHT_BASE_URL)])
}

function present(list: readonly (string | undefined)[]): string[] {
  return list.filter((each) => each !== undefined)
}

function originOf(url: unknown): string | undefined {
  if (typeof url !== "string" || url === "") return undefined
  // What is no address gets no key.
  return URL.parse(url)?.origin ?? url
}
