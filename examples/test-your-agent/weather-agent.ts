import { createToolwright, defineTool, type Toolwright, type ToolwrightOptions } from "toolwright"

/** The tool of the agent under test. It asks a service in the network, which no test of it does. */
export const getWeather = defineTool({
  name: "get_weather",
  description: "Temperature and rain in a city, now",
  effects: { readOnly: true, network: true },
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  outputSchema: {
    type: "object",
    properties: { celsius: { type: "number" }, rain: { type: "boolean" } },
    required: ["celsius", "rain"],
  },
  execute: async ({ city }, { signal }) =>
    (await fetch(`https://weather.example/now?city=${encodeURIComponent(String(city))}`, { signal })).json(),
})

/** The agent under test. What is given replaces its own model and tools: that is all that it does for its tests. */
export function createWeatherAgent(options: Pick<ToolwrightOptions, "backend" | "tools"> = {}): Promise<Toolwright> {
  return createToolwright({
    tools: [getWeather],
    model: { baseUrl: "http://localhost:8080/v1", name: "qwen2.5-7b-instruct" },
    record: false,
    ...options,
  })
}
