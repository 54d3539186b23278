/** The floor of REST: node's own server, which reads the file and answers JSON. Run as a process of its own. */
import { readFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const server = createServer((request, response) => {
  const pieces: Buffer[] = []
  request.on("data", (piece: Buffer) => pieces.push(piece))
  request.on("end", async () => {
    const { path } = JSON.parse(Buffer.concat(pieces).toString()) as { path: string }
    response.setHeader("content-type", "application/json")
    response.end(
      JSON.stringify({
        success: true,
        result: { path, content: await readFile(path, "utf8") },
        error: null,
        metadata: {},
        execution_time_ms: 0,
      }),
    )
  })
})
server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port))
