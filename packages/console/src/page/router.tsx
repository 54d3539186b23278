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
const compare = lazyRouteComponent(() => import("./run/compare.tsx"), "Compare")
const tasks = lazyRouteComponent(() => import("./tasks/tasks.tsx"), "Tasks")
const approvals = lazyRouteComponent(() => import("./approvals/approvals.tsx"), "Approvals")
const agents = lazyRouteComponent(() => import("./agents/agents.tsx"), "Agents")
const chat = lazyRouteComponent(() => import("./chat/chat.tsx"), "Chat")
const connections = lazyRouteComponent(() => import("./connections/connections.tsx"), "Connections")
const evaluations = lazyRouteComponent(() => import("./evaluations/evaluations.tsx"), "Evaluations")
const charts = lazyRouteComponent(() => import("./charts/charts.tsx"), "Charts")

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
  route("/compare", compare),
  route("/tasks", tasks),
  route("/tasks/$task", tasks),
  route("/approvals", approvals),
  route("/agents", agents),
  route("/chat", chat),
  route("/chat/$conversation", chat),
  route("/connections", connections),
  route("/evaluations", evaluations),
  route("/evaluations/$evaluation", evaluations),
  route("/charts", charts),
])

export const router = createRouter({
  routeTree: tree,
  history: createHashHistory(),
  defaultPreload: "intent",
  // What fails in a pane is no matter of the network, and leaves what is around it as it is.
  defaultErrorComponent: ({ error, reset }) => <Problem title="This pane failed" error={String(error)} retry={reset} />,
})

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
}
