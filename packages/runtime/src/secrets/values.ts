import type { Configuration } from "../configuration/settings.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** Names of variables and fields that say that what they hold is a secret. */
const SECRET_NAME =
  /(?:^|[_-]|[a-z](?=[A-Z]))(?:key|token|secret|password|passwd|passphrase|pwd|credentials?|auth|pat|dsn|apikey|authtoken)$/i
/** Names that look so and hold something else: a socket, a file, the name of a variable. */
const NO_SECRET_NAME = /(?:^ssh_auth_sock|_sock|_file|_path|_env|_url|_dir|_id)$/i
/** Such a word inside a name, as in TOKEN_GITHUB or SECRET_KEY_BASE: what it holds has to look like a secret too. */
const SECRET_INSIDE =
  /(?:^|_)(?:(?:api|access|private|secret|signing|encryption)_?keys?|tokens?|secrets?|passwords?|passwd|passphrase|credentials?|pat)_/i
const LIKE_SECRET = /^(?=.*\d)(?=.*[A-Za-z])[^\s]{12,4000}$/
/** A part between slashes that is no name of a folder: what begins with a slash is a path, unless it holds one. */
const RANDOM_PART = /^(?=.*\d)(?=.*[A-Z])(?=.*[a-z])[A-Za-z0-9+=]{16,}$/
const SHORTEST = 8
/** Words without a digit are too likely to be a name that stands everywhere, such as the user `postgres`. */
const PLAIN_WORD = /^[a-z]{1,11}$/i

/** Whether a name of a variable, a field or a flag says that what it holds is a secret. */
export function saysSecret(name: string): boolean {
  return SECRET_NAME.test(name) && !NO_SECRET_NAME.test(name)
}

/** The secrets that a program of this user could see: values of variables whose names say so. */
export function environmentSecrets(env: Environment): string[] {
  return Object.entries(env).flatMap(([name, value = ""]) => {
    const holds = saysSecret(name)
    const seems = SECRET_INSIDE.test(name) && !NO_SECRET_NAME.test(name) && LIKE_SECRET.test(value)
    return (holds || seems) && isSecretValue(value) ? [value] : []
  })
}

/** The secrets that stand in the configuration, wherever: keys, tokens, headers, passwords of addresses. */
export function configuredSecrets(configuration: Configuration): string[] {
  const found: string[] = []
  const walk = (value: unknown, name: string, depth: number): void => {
    if (depth > 20) return
    if (typeof value === "string") {
      const holds = saysSecret(name) || name === "header"
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
  return value.length >= SHORTEST && !PLAIN_WORD.test(value) && !isPath(value) && !/^\d+$/.test(value)
}

function isPath(value: string): boolean {
  return value.startsWith("/") && !value.split("/").some((part) => RANDOM_PART.test(part))
}
