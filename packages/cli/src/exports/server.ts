/** REST, OpenAPI, the gateway for OpenAI clients, and a client. */
export * from "@toolwright/server"
