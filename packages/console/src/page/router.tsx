import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router"
import { Shell } from "./shell.tsx"
import { Problem } from "./ui/states.tsx"

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => <Problem title="There is no such pane" error="Choose one on the left." />,
  errorComponent: ({ error }) => <Problem title="This pane failed" error={error} />,
})

const texts = (search: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(search).map(([name, value]) => [name, typeof value === "string" ? value : String(value)]),
  )

const route = <Path extends string>(path: Path, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => root, path, component, validateSearch: texts })

const tools = lazyRouteComponent(() => import("./tools/tools.tsx"), "Tools")
const runs = lazyRouteComponent(() => import("./runs/runs.tsx"), "Runs")
const run = lazyRouteComponent(() => import("./run/run.tsx"), "RunPane")

const start = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/tools", search: {} })
  },
})

const tree = root.addChildren([
  start,
  route("/tools", tools),
  route("/tools/$name", tools),
  route("/runs", runs),
  route("/runs/$run", run),
])

export const router = createRouter({ routeTree: tree, history: createHashHistory(), defaultPreload: "intent" })

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
}
