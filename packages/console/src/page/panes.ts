/** The panes of the page, in the order in which they are offered. */
export const PANES = [
  { to: "/tools", name: "Tools" },
  { to: "/runs", name: "Runs" },
  { to: "/tasks", name: "Tasks" },
  { to: "/approvals", name: "Approvals" },
  { to: "/agents", name: "Agents" },
  { to: "/chat", name: "Chat" },
  { to: "/connections", name: "Connections" },
  { to: "/evaluations", name: "Evaluations" },
  { to: "/charts", name: "Charts" },
] as const
