import type { NetworkPolicy } from "@toolwright/host/net"
import type { Limits } from "@toolwright/host/sandbox"
import type { BlogToolsConfig } from "@toolwright/tools-blog"
import type { DatabaseTarget } from "@toolwright/tools-database"
import type { WebToolsConfig } from "@toolwright/tools-web"
import { readOnlyInside, rootsInside, withoutAllow, withoutExceptions } from "./free.ts"
import { AGENT_SETTINGS } from "./agent-settings.ts"
import { MODEL_SETTINGS } from "./model-settings.ts"
import type { AgentPermissions, CallLimit } from "./rules.ts"
import { typed, type ConfigurationOf, type Setting } from "./setting.ts"

const DECLARED = [
  ...MODEL_SETTINGS,
  ...AGENT_SETTINGS,
  {
    key: "workspace.roots",
    nature: "widens",
    free: rootsInside,
    group: "workspace",
    type: "string-list",
    description: "Folders that tools may read and write; the current one unless given",
    flag: "root",
  },
  {
    key: "workspace.readOnly",
    nature: "widens",
    free: readOnlyInside,
    group: "workspace",
    type: "string-list",
    description: "Folders that tools may read",
    flag: "read-only",
  },
  {
    key: "workspace.mapping",
    nature: "widens",
    type: "object",
    holds: typed<Readonly<Record<string, string>>>(),
    description:
      "In a container: where folders of the host are mounted, host path: path here; tools are told and tell host paths",
  },
  {
    key: "workspace.mounts",
    nature: "widens",
    type: "string",
    values: ["plain", "mirrored"],
    fallback: "plain",
    description:
      "In a container: mirrored takes every mount below /mnt/read_write and /mnt/read_only as the folder of the " +
      "host that its path names",
    env: ["TOOLWRIGHT_MOUNTS"],
  },
  {
    key: "workspace.denyRead",
    nature: "widens",
    free: withoutExceptions,
    type: "string-list",
    description: "Patterns of files that tools may not read, beside the usual secrets",
  },
  {
    key: "workspace.denyWrite",
    nature: "widens",
    free: withoutExceptions,
    type: "string-list",
    description: "Patterns of files that tools may not write, beside the usual ones",
  },
  {
    key: "builtins.kits",
    nature: "widens",
    type: "string-list",
    description:
      "Tools beside those for code: web, blog, database; unless given, what has settings, and web where it " +
      "is installed",
    flag: "kits",
  },
  {
    key: "builtins.enabled",
    nature: "narrows",
    type: "boolean",
    fallback: true,
    description: "Whether there are built-in tools at all",
    flag: "builtins",
  },
  {
    key: "builtins.only",
    nature: "narrows",
    type: "string-list",
    description: "Only these built-in tools",
    flag: "only-tools",
  },
  {
    key: "builtins.without",
    nature: "narrows",
    type: "string-list",
    description: "Not these built-in tools",
    flag: "without-tools",
  },
  {
    key: "builtins.bash.allow",
    nature: "narrows",
    type: "string-list",
    description: "Programs that the bash tool may run, in place of its own list",
  },
  {
    key: "builtins.bash.timeoutSeconds",
    nature: "harmless",
    type: "integer",
    minimum: 1,
    description:
      "Longest that a command may take; without it ten minutes, and two where the call does not say how long",
  },
  {
    key: "builtins.bash.sandbox",
    nature: "widens",
    free: (value) => (value === "off" ? undefined : value),
    type: "string",
    values: ["auto", "required", "off"],
    fallback: "auto",
    description: "Whether commands run in a bubblewrap sandbox: where there is one, always, never",
  },
  {
    key: "builtins.limits",
    nature: "widens",
    holds: typed<Limits>(),
    type: "object",
    description: "What one program may take: processes, memoryMb, fileMb, files, diskMb, see docs/sandbox.md",
  },
  {
    key: "builtins.network",
    nature: "servers",
    holds: typed<NetworkPolicy>(),
    type: "object",
    description: "What tools may reach over the network, see docs/web-tools.md",
  },
  {
    key: "builtins.web",
    nature: "servers",
    holds: typed<WebToolsConfig>(),
    type: "object",
    description: "Pull requests, web search, pages, see docs/web-tools.md",
  },
  {
    key: "builtins.blog",
    nature: "servers",
    holds: typed<BlogToolsConfig>(),
    type: "object",
    description: "Feeds, links, calendar, publishing, see docs/blog-tools.md",
  },
  {
    key: "builtins.databases",
    nature: "servers",
    holds: typed<Readonly<Record<string, DatabaseTarget>>>(),
    type: "object",
    description: "Databases that may be migrated, by name, see docs/database-tools.md",
  },
  {
    key: "tools",
    nature: "programs",
    type: "string-list",
    description:
      "Tools of your own: files, folders and npm packages whose exported tools join the built-in ones, see " +
      "docs/own-tools.md",
    env: ["TOOLWRIGHT_TOOLS"],
    flag: "tools",
  },
  {
    key: "sources.rest",
    nature: "servers",
    type: "object",
    description:
      "REST tools services by name: url, and token or tokenEnv, enabled, required, prefix, rename, allow, deny, " +
      "tags, sets, keyed, idempotent",
  },
  {
    key: "sources.services",
    nature: "servers",
    type: "string-list",
    description:
      "Addresses of REST tools services, name= before one names it; TOOLS_API_TOKEN is the token of the one in " +
      "TOOLS_API_URL",
    env: ["TOOLS_API_URL"],
    flag: "rest",
  },
  {
    key: "sources.cacheSeconds",
    nature: "harmless",
    type: "integer",
    minimum: 0,
    fallback: 300,
    description: "How long what was read from a REST tools service is kept; writing forgets it, 0 keeps nothing",
  },
  {
    key: "mcp.servers",
    nature: "programs",
    type: "object",
    description:
      "MCP servers by name, in the usual form: url, or command with args and env; also enabled, required, " +
      "prefix, rename, allow, deny, tags, sets, keyed, idempotent",
  },
  {
    key: "mcp.file",
    nature: "programs",
    path: true,
    type: "string",
    description: "JSON file with a mapping mcpServers",
    flag: "mcp-config",
  },
  {
    key: "mcp.connect",
    nature: "programs",
    type: "string-list",
    description:
      "MCP servers that must be there: an address, or a command with its arguments; name= before it names it",
    flag: "mcp-server",
  },
  {
    key: "mcp.folder",
    nature: "programs",
    path: true,
    type: "string",
    description:
      "Folder in which servers of mcp.connect and mcp.file start; unless given, that of the file that names " +
      "them, or the current one",
  },
  {
    key: "permissions.allow",
    nature: "widens",
    type: "string-list",
    description:
      "Tools that may run unasked, whatever else says that they need approval; with the pocket model bash, test, " +
      "delete_file, move_file and, over a file that is there, write_file need it by themselves",
    flag: "allow-tool",
  },
  {
    key: "permissions.deny",
    nature: "narrows",
    type: "string-list",
    description: "Tools that may not run (* and ? stand for characters)",
    flag: "deny-tool",
  },
  {
    key: "permissions.ask",
    nature: "narrows",
    type: "string-list",
    description: "Tools that need approval; where nobody can be asked they may not run",
  },
  {
    key: "permissions.careful",
    nature: "narrows",
    type: "boolean",
    fallback: false,
    description:
      "Whether tools that delete, move, publish or run commands need approval where no rule speaks; a project's " +
      "own tests and checks run unasked where a sandbox holds them",
    flag: "careful",
  },
  {
    key: "permissions.approvals",
    nature: "narrows",
    type: "string",
    values: ["deny", "wait"],
    fallback: "deny",
    description:
      "Where nobody can be asked whether a call may run: it may not, or the run waits without a process until " +
      "'toolwright approvals' has the answer",
    flag: "approvals",
  },
  {
    key: "permissions.denyPaths",
    nature: "widens",
    free: withoutExceptions,
    type: "string-list",
    description:
      "Patterns of names (`*.key`) and places (`private/*`) that no tool reads, lists, searches or changes, " +
      "however it comes there",
  },
  {
    key: "permissions.agents",
    nature: "widens",
    free: withoutAllow,
    holds: typed<Readonly<Record<string, AgentPermissions>>>(),
    type: "object",
    description:
      "Rules for single agents, by name: allow, deny and ask as above; they go before those for all, and deny " +
      "wins. denyPaths is for all agents",
  },
  {
    key: "undo.enabled",
    nature: "widens",
    type: "boolean",
    fallback: true,
    description: "Whether what tools change is kept, so that it can be taken back",
  },
  {
    key: "undo.keepDays",
    nature: "widens",
    type: "integer",
    minimum: 1,
    fallback: 30,
    description: "How long it is kept",
  },
  {
    key: "undo.keepMegabytes",
    nature: "widens",
    type: "integer",
    minimum: 1,
    fallback: 512,
    description: "Room that the kept contents may take; the oldest go first",
  },
  {
    key: "secrets.shown",
    nature: "widens",
    type: "string-list",
    description:
      "Kinds of secrets that tools' results show, in place of [secret]: aws, github, gitlab, slack, api-key, " +
      "google, notion, hugging-face, npm, jwt, private-key, address, header, environment, configured, or all; " +
      "records hold none",
    flag: "show-secret",
  },
  {
    key: "calls.limits",
    nature: "narrows",
    holds: typed<Readonly<Record<string, CallLimit>>>(),
    type: "object",
    description:
      "How often tools may be called, by name (* and ? stand for characters): perMinute, perRun, and failures in " +
      "a row after which further calls of the run, or of its phase, are refused",
  },
  {
    key: "calls.middleware",
    nature: "programs",
    path: true,
    type: "string-list",
    description:
      "Modules that stand around every call of a tool; each exports a middleware as default: async (call, " +
      "next) => next()",
  },
  {
    key: "runs.database",
    nature: "widens",
    path: true,
    type: "string",
    description:
      "Where runs, tasks and conversations are kept: a postgres:// address or an SQLite file; " +
      ".toolwright/state.sqlite in the workspace unless given",
    env: ["TOOLWRIGHT_DATABASE"],
    flag: "database",
  },
  {
    key: "runs.tokens",
    nature: "harmless",
    type: "boolean",
    fallback: false,
    description:
      "Whether it is recorded how the model came to each reply: its tokens with their chances, what the grammar " +
      "removed, where arguments come from; of models in this process",
    env: ["TOOLWRIGHT_RECORD_TOKENS"],
    flag: "record-tokens",
  },
] as const satisfies readonly Setting[]

/**
 * Every setting there is. The file's JSON Schema, its checks, the flags, the variables, `toolwright config`, what
 * waits for trust, the type of the configuration and the reference in the documentation all come from this list.
 */
export const SETTINGS: readonly Setting[] = DECLARED

/** The configuration, as it is in force. */
export type Configuration = ConfigurationOf<typeof DECLARED>
