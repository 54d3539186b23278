import { randomInt } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:net"

/**
 * A free port to listen on later, or again. It is none of those that the system gives to whoever asks for any: one of
 * these may be a connection's before the server is there.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(12_000, 32_000)
    const probe = createServer().listen(port, "127.0.0.1")
    const isFree = await once(probe, "listening").then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    await new Promise((done) => probe.close(done))
    return port
  }
}
