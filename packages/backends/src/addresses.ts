/*
 * Where servers are unless an address is given; without anything else of this package, for what has to be quick to
 * load.
 */

/** Where OpenAI's own API is. */
export const OPENAI_URL = "https://api.openai.com/v1"
/** Where Ollama listens unless it is told otherwise. */
export const OLLAMA_URL = "http://localhost:11434"
/** Where llama.cpp's server listens unless it is told otherwise. */
export const LLAMA_SERVER_URL = "http://localhost:8080"
/** Where Anthropic's own API is. */
export const ANTHROPIC_URL = "https://api.anthropic.com"
