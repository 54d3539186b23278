import type { McpExportOptions } from "../export/server.ts";
/** A registry served over MCP on the loopback interface. */
export interface ServedRegistry extends AsyncDisposable {
    readonly url: string;
    toolsChanged(): void;
}
export declare function serveRegistry(options: McpExportOptions, port?: number): Promise<ServedRegistry>;
