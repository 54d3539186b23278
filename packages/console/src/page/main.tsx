import { QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { ApiError, onToken, onTokenRefused, useOneTimeCode } from "./lib/api.ts"
import { applyTheme } from "./lib/theme.ts"
import { router } from "./router.tsx"
import "./style.css"

/** A server that is away is asked again until it is back; what it has refused is not. */
const client = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (failures, error) => !(error instanceof ApiError) && failures < 4,
      retryDelay: (failures) => Math.min(500 * 2 ** failures, 5000),
      staleTime: 2000,
    },
    mutations: { retry: false },
  },
})
onToken(() => void client.invalidateQueries())
// Whatever was refused, the list of tools is what the question for a token hangs on; one that is under way says it too.
onTokenRefused(() => void client.refetchQueries({ queryKey: ["tools"], predicate: holds }, { cancelRefetch: false }))
const holds = ({ state }: { state: { error: unknown } }): boolean => state.error === null

applyTheme()
await useOneTimeCode()

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
