import { createServer } from "node:http";
import { Readable } from "node:stream";
import { mcpOverHttp } from "../export/http.js";
export async function serveRegistry(options, port = 0) {
    const handler = mcpOverHttp(options);
    const server = createServer(async (incoming, outgoing) => {
        const controller = new AbortController();
        outgoing.on("close", () => controller.abort());
        const body = incoming.method === "POST" ? { body: Readable.toWeb(incoming), duplex: "half" } : {};
        const request = new Request(`http://localhost${incoming.url}`, {
            method: incoming.method,
            headers: incoming.headers,
            signal: controller.signal,
            ...body,
        });
        const response = await handler.fetch(request);
        outgoing.writeHead(response.status, Object.fromEntries(response.headers));
        if (response.body === null)
            outgoing.end();
        else
            Readable.fromWeb(response.body)
                .on("error", () => outgoing.destroy())
                .pipe(outgoing);
    });
    await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
    return {
        url: `http://127.0.0.1:${server.address().port}/mcp`,
        toolsChanged: () => handler.toolsChanged(),
        async [Symbol.asyncDispose]() {
            await handler.close();
            server.closeAllConnections();
            await new Promise((resolve) => server.close(resolve));
        },
    };
}
