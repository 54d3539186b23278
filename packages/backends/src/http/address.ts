import { ToolwrightError } from "@toolwright/toolbox"

/** Where to send requests, and a text of it that is safe to show. */
export interface Address {
  endpoint: string
  shown: string
  /** Where a request that is no inference goes, by its path; nothing where the server takes none. */
  other(path: string): string | undefined
  /** Where a page of the server's own is, which stands beside its versioned API. */
  beside(page: string): string
  /** From `user:password@` in the address, which fetch would refuse. */
  authorization?: string
}

/** Where a protocol has its pages behind the address that users name. */
export interface Pages {
  /** Of inference, e.g. `chat/completions`. */
  readonly own: string
  /** An end of an address that does not belong to it, though users are used to it. */
  readonly without?: RegExp
  /** What stands before the paths of OpenAI's API; nothing where the server does not have that. */
  readonly others?: string
}

/**
 * The address of a server's endpoint.
 *
 * @param baseUrl where the server's API begins, e.g. `http://localhost:8080/v1`; a whole endpoint is taken too
 * @param setting the setting that holds it, for the error
 * @throws ToolwrightError `INVALID_CONFIGURATION` when it is no HTTP address
 */
export function addressOf(baseUrl: string, setting: string, { own, without, others }: Pages): Address {
  const url = parse(baseUrl, setting)
  const authorization =
    url.username === ""
      ? undefined
      : `Basic ${btoa(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`)}`
  url.username = ""
  url.password = ""
  url.hash = ""
  const path = url.pathname.replace(/\/+$/, "")
  const root = path.endsWith(`/${own}`)
    ? path.slice(0, -own.length - 1)
    : without === undefined
      ? path
      : path.replace(without, "")
  const at = (page: string): string => {
    url.pathname = `${root}/${page}`
    return url.href
  }
  const endpoint = at(own)
  return {
    endpoint,
    shown: `${url.origin}${url.pathname}`,
    other: (page) => (others === undefined ? undefined : at(others + page)),
    beside(page) {
      url.pathname = `${root.replace(/\/v\d+$/, "")}/${page}`
      return url.href
    },
    ...(authorization === undefined ? {} : { authorization }),
  }
}

function parse(baseUrl: string, setting: string): URL {
  const wrong = (why: string) =>
    new ToolwrightError(
      "INVALID_CONFIGURATION",
      `The model server's address ${JSON.stringify(withoutCredentials(baseUrl))} ${why}.`,
      {
        hint: `Set ${setting} to something like http://localhost:8080/v1.`,
      },
    )
  if (!URL.canParse(baseUrl))
    throw wrong(baseUrl.includes("://") ? "is not valid" : "has no http:// or https:// before it")
  const url = new URL(baseUrl)
  if (url.protocol !== "http:" && url.protocol !== "https:") throw wrong("is no http:// or https:// address")
  return url
}

/** An address without user, password and query, so that it can be shown. */
export function withoutCredentials(address: string): string {
  return address.replace(/\/\/[^/@]*@/, "//").replace(/\?.*$/, "")
}
