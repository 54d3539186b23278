/** MCP servers as sources of tools, and tools as an MCP server. */
export * from "@toolwright/mcp"
