import { ToolwrightError } from "@toolwright/toolbox"

type Environment = Readonly<Record<string, string | undefined>>

/** What of a server's configuration may hold variables. */
interface Holding {
  name: string
  command?: string
  args?: string[]
  env?: Record<string, string>
  cwd?: string
  url?: string
  headers?: Record<string, string>
}

/** `${NAME}`, `${env:NAME}`, and `${NAME:-what stands for it}`. */
const VARIABLE = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}/g

/**
 * A server with the variables in its configuration replaced, as hosts do it: in the command and its arguments, the
 * environment, the address and its headers, and the folder. What a variable holds is taken as it is, never read again.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` naming the server and the variable that is not set
 */
export function withVariables<Server extends Holding>(server: Server, env: Environment): Server {
  const text = (value: string): string =>
    value.replaceAll(VARIABLE, (_, name: string, otherwise: string | undefined) => {
      const found = env[name] ?? ""
      if (found !== "") return found
      if (otherwise !== undefined) return otherwise
      throw unset(server.name, name)
    })
  const texts = (values: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, text(String(value))]))
  const { command, args, env: own, cwd, url, headers } = server
  return {
    ...server,
    ...(command === undefined ? {} : { command: text(command) }),
    ...(args === undefined ? {} : { args: args.map((each) => text(String(each))) }),
    ...(own === undefined ? {} : { env: texts(own) }),
    ...(cwd === undefined ? {} : { cwd: text(cwd) }),
    ...(url === undefined ? {} : { url: text(url) }),
    ...(headers === undefined ? {} : { headers: texts(headers) }),
  }
}

function unset(server: string, name: string): ToolwrightError {
  return new ToolwrightError(
    "INVALID_CONFIGURATION",
    `The MCP server '${server}' needs the environment variable ${name}, which is not set.`,
    { hint: `Set it, write \${${name}:-default} in the file, or turn the server off with "enabled": false.` },
  )
}
