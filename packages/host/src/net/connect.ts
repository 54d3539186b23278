import { lookup as dnsLookup } from "node:dns/promises"
import { connect as connectTcp, type Socket } from "node:net"
import { messageOf } from "@toolwright/toolbox"
import { isPublicAddress, isSameAddress, literalAddress } from "./addresses.ts"
import { NetworkError } from "./network-error.ts"
import { portOf } from "./url-policy.ts"

/** Resolves a name to all of its addresses. */
export type Lookup = (hostname: string) => Promise<readonly string[]>

/** Opens a TCP connection; replaced only by tests. */
export type Dial = (address: string, port: number) => Socket

export interface ConnectOptions {
  /** Whether this origin was configured and may live at any address. */
  anyAddress: boolean
  lookup: Lookup
  dial: Dial
  ca: string | undefined
  connectMs: number
  signal: AbortSignal
}

const MAX_ADDRESSES = 4

export const systemLookup: Lookup = async (hostname) =>
  (await dnsLookup(hostname, { all: true, verbatim: true })).map(({ address }) => address)

export const systemDial: Dial = (host, port) => connectTcp({ host, port, autoSelectFamily: false })

/**
 * Connects to the server of a URL: resolves its name once, keeps the addresses that may be reached, and connects to one
 * of exactly those, so that a name that answers differently a moment later gains nothing. The peer's address is
 * compared once more before a byte is sent. With https the certificate is checked against the URL's name, not the
 * address.
 *
 * @throws NetworkError `BLOCKED_ADDRESS`, `DNS_FAILED`, `CONNECTION_FAILED` or `TIMEOUT`
 */
export async function connectTo(url: URL, options: ConnectOptions): Promise<Socket> {
  const addresses = await vettedAddresses(url, options)
  let last: unknown
  for (const address of addresses) {
    try {
      const socket = await open(() => options.dial(address, portOf(url)), "connect", options)
      if (!isSameAddress(socket.remoteAddress ?? "", address)) {
        socket.destroy()
        throw new NetworkError(
          "BLOCKED_ADDRESS",
          `The connection to ${url.host} reached another address than the one that was checked.`,
        )
      }
      return url.protocol === "https:" ? await secure(socket, url, options) : socket
    } catch (thrown) {
      options.signal.throwIfAborted()
      if (thrown instanceof NetworkError && thrown.code === "BLOCKED_ADDRESS") throw thrown
      last = thrown
    }
  }
  if (last instanceof NetworkError) throw last
  throw new NetworkError("CONNECTION_FAILED", `No connection to ${url.host} (${messageOf(last)}).`, {
    cause: last,
    retryable: true,
  })
}

async function vettedAddresses(url: URL, options: ConnectOptions): Promise<readonly string[]> {
  const literal = literalAddress(url.hostname)
  const found = literal === undefined ? await resolve(url, options) : [literal]
  if (options.anyAddress) return found.slice(0, MAX_ADDRESSES)
  const allowed = found.filter(isPublicAddress)
  if (allowed.length > 0) return allowed.slice(0, MAX_ADDRESSES)
  throw new NetworkError(
    "BLOCKED_ADDRESS",
    `${url.host} is not on the public internet; local and private addresses are refused.`,
    {
      hint:
        "Use a public URL. Whoever runs this can allow one private origin in the configuration " +
        "(network.allowOrigins).",
      details: { host: url.host },
    },
  )
}

async function resolve(url: URL, { lookup, signal, connectMs }: ConnectOptions): Promise<readonly string[]> {
  try {
    const found = await within(lookup(url.hostname), connectMs, signal, `Looking up ${url.hostname}`)
    if (found.length > 0) return found
  } catch (thrown) {
    signal.throwIfAborted()
    if (thrown instanceof NetworkError) throw thrown
    throw new NetworkError("DNS_FAILED", `There is no server named ${url.hostname} (${messageOf(thrown)}).`, {
      cause: thrown,
      retryable: true,
      hint: "Check the spelling of the host name.",
    })
  }
  throw new NetworkError("DNS_FAILED", `There is no server named ${url.hostname}.`, {
    hint: "Check the spelling of the host name.",
  })
}

async function secure(socket: Socket, url: URL, options: ConnectOptions): Promise<Socket> {
  const isLiteral = literalAddress(url.hostname) !== undefined
  const name = isLiteral ? "" : url.hostname.replace(/\.$/, "")
  return open(
    () =>
      process.getBuiltinModule("node:tls").connect({
        socket,
        servername: name,
        host: isLiteral ? (literalAddress(url.hostname) as string) : name,
        ALPNProtocols: ["http/1.1"],
        ...(options.ca === undefined ? {} : { ca: options.ca }),
      }),
    "secureConnect",
    options,
  )
}

function open(
  start: () => Socket,
  event: "connect" | "secureConnect",
  { connectMs, signal }: ConnectOptions,
): Promise<Socket> {
  const socket = start()
  // What breaks later is told by whoever reads then; without a listener it would end the process.
  socket.on("error", () => {})
  const opened = new Promise<Socket>((done, fail) => {
    socket.once(event, () => done(socket))
    socket.once("error", fail)
    socket.once("close", () => fail(new Error("the connection was closed")))
  })
  return within(opened, connectMs, signal, "Connecting").catch((thrown: unknown) => {
    socket.destroy()
    throw thrown
  })
}

/** Awaits a promise no longer than `ms`, and not past an abort. The promise itself is left to its owner to stop. */
export async function within<T>(promise: Promise<T>, ms: number, signal: AbortSignal, what: string): Promise<T> {
  promise.catch(() => {})
  signal.throwIfAborted()
  const stopped = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => stopped.reject(new NetworkError("TIMEOUT", `${what} took longer than ${ms} ms.`, { retryable: true })),
    ms,
  )
  const onAbort = () => stopped.reject(signal.reason)
  signal.addEventListener("abort", onAbort, { once: true })
  try {
    return await Promise.race([promise, stopped.promise])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener("abort", onAbort)
  }
}
