import { ToolwrightError } from "@toolwright/toolbox"

/** Where to send chat requests, and a text of it that is safe to show. */
export interface Address {
  endpoint: string
  shown: string
  /** From `user:password@` in the address, which fetch would refuse. */
  authorization?: string
}

/**
 * The address of a server's chat endpoint.
 *
 * @param baseUrl where the server's API begins, e.g. `http://localhost:8080/v1`; a whole endpoint is taken too
 * @param setting the setting that holds it, for the error
 * @throws ToolwrightError `INVALID_CONFIGURATION` when it is no HTTP address
 */
export function chatAddress(baseUrl: string, setting: string): Address {
  const url = parse(baseUrl, setting)
  const authorization =
    url.username === ""
      ? undefined
      : `Basic ${btoa(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`)}`
  url.username = ""
  url.password = ""
  url.hash = ""
  const path = url.pathname.replace(/\/+$/, "")
  url.pathname = path.endsWith("/chat/completions") ? path : `${path}/chat/completions`
  const shown = `${url.origin}${url.pathname}`
  return { endpoint: url.href, shown, ...(authorization === undefined ? {} : { authorization }) }
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
