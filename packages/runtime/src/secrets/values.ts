import type { Configuration } from "../configuration/settings.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** Names of variables and fields that say that what they hold is a secret. */
const SECRET_NAME =
  /(?:^|[_-]|[a-z](?=[A-Z]))(?:key|token|secret|password|passwd|passphrase|pwd|credentials?|auth|pat|dsn|apikey|authtoken)$/i
/** Names that look so and hold something else: a socket, a file, the name of a variable. */
const NO_SECRET_NAME = /(?:^ssh_auth_sock|_sock|_file|_path|_env|_url|_dir|_id)$/i
const SHORTEST = 8
/** Words without a digit are too likely to be a name that stands everywhere, such as the user `postgres`. */
const PLAIN_WORD = /^[a-z]{1,11}$/i

/** The secrets that a program of this user could see: values of variables whose names say so. */
export function environmentSecrets(env: Environment): string[] {
  return Object.entries(env).flatMap(([name, value = ""]) => {
    const holds = SECRET_NAME.test(name) && !NO_SECRET_NAME.test(name)
    return holds && isSecretValue(value) ? [value] : []
  })
}

/** The secrets that stand in the configuration, wherever: keys, tokens, headers, passwords of addresses. */
export function configuredSecrets(configuration: Configuration): string[] {
  const found: string[] = []
  const walk = (value: unknown, name: string, depth: number): void => {
    if (depth > 20) return
    if (typeof value === "string") {
      const holds = (SECRET_NAME.test(name) && !NO_SECRET_NAME.test(name)) || name === "header"
      if (holds && isSecretValue(value)) found.push(value, ...value.split(/\s+/).filter(isSecretValue))
      const password = URL.canParse(value) ? decodeURIComponent(new URL(value).password) : ""
      if (password !== "") found.push(password)
    } else if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) walk(inner, name === "headers" ? "header" : key, depth + 1)
    }
  }
  walk(configuration, "", 0)
  return found
}

function isSecretValue(value: string): boolean {
  return value.length >= SHORTEST && !PLAIN_WORD.test(value) && !/^(?:\/|\d+$)/.test(value)
}
