import { messageOf } from "@toolwright/toolbox"
import { NetworkError } from "./network-error.ts"

/**
 * Ports that no web server answers on and that other protocols can be spoken to through HTTP (Fetch standard, "bad
 * port").
 */
const BAD_PORTS = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

/**
 * Parses a URL that may be fetched: http or https, no user name or password inside, no port of another protocol.
 *
 * @param text the URL; its host is normalised by the URL standard, so that `2130706433` or `0x7f.1` become `127.0.0.1`
 * @param base what a relative URL (of a redirect) is relative to
 * @throws NetworkError `INVALID_URL` or `BLOCKED_PORT`
 */
export function parseWebUrl(text: string, base?: URL): URL {
  let url: URL
  try {
    url = new URL(text, base)
  } catch (thrown) {
    throw new NetworkError("INVALID_URL", `'${shorten(text)}' is no URL (${messageOf(thrown)}).`, {
      hint: "Give a whole URL, such as https://example.com/page.",
    })
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new NetworkError("INVALID_URL", `Only http and https URLs can be fetched, not '${url.protocol}'.`, {
      hint: "Use the filesystem tools for local files.",
    })
  }
  if (url.username !== "" || url.password !== "") {
    throw new NetworkError("INVALID_URL", "The URL holds a user name or password; such URLs are refused.", {
      hint: "Leave the part before '@' out.",
    })
  }
  if (BAD_PORTS.has(portOf(url))) {
    throw new NetworkError("BLOCKED_PORT", `Port ${portOf(url)} belongs to another protocol than HTTP.`)
  }
  return url
}

/** The port of an http(s) URL, the protocol's own when none is written. */
export function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port)
  return url.protocol === "https:" ? 443 : 80
}

function shorten(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`
}
