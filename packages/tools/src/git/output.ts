import type { JsonSchema } from "@toolwright/toolbox"

const CHANGES: JsonSchema = {
  type: "array",
  items: {
    type: "object",
    properties: {
      path: { type: "string" },
      status: { type: "string" },
      from: { type: "string", description: "The old path of a renamed file." },
    },
    required: ["path", "status"],
  },
}
const NAMES = { type: "array", items: { type: "string" } } as const satisfies JsonSchema

/** The shape of a working tree's status. */
export const STATUS_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    branch: { type: ["string", "null"], description: "null: on no branch." },
    commit: { type: ["string", "null"] },
    upstream: { type: ["string", "null"] },
    ahead: { type: "integer" },
    behind: { type: "integer" },
    staged: CHANGES,
    unstaged: CHANGES,
    untracked: NAMES,
    conflicted: NAMES,
    clean: { type: "boolean" },
  },
  required: ["staged", "unstaged", "untracked"],
}

/** What the actions answer: a status, a diff, a commit, a push, a switch of branches, or a log. */
export const GIT_OUTPUT: JsonSchema = {
  type: "object",
  anyOf: [
    {
      title: "status, add",
      ...STATUS_SCHEMA,
      properties: {
        ...STATUS_SCHEMA.properties,
        left_out: { ...NAMES, description: "Files that were not staged: secrets, and what needs a filter." },
      },
    },
    {
      title: "diff",
      properties: {
        diff: { type: "string" },
        files: {
          type: "array",
          items: {
            type: "object",
            properties: { path: { type: "string" }, added: { type: "integer" }, removed: { type: "integer" } },
            required: ["path", "added", "removed"],
          },
        },
        truncated: { type: "boolean" },
        left_out: { ...NAMES, description: "Changed files that tools may not read." },
      },
      required: ["diff", "files"],
    },
    {
      title: "commit",
      properties: {
        commit: { type: "string" },
        branch: { type: ["string", "null"] },
        message: { type: "string" },
        files: NAMES,
        left_out: NAMES,
      },
      required: ["commit", "files"],
    },
    {
      title: "push",
      properties: { remote: { type: "string" }, branch: { type: "string" } },
      required: ["remote", "branch"],
    },
    {
      title: "checkout, create_branch",
      properties: {
        ref: { type: "string" },
        branch: { type: ["string", "null"] },
        commit: { type: "string" },
        changed: NAMES,
      },
      required: ["branch", "changed"],
    },
    {
      title: "log",
      properties: {
        commits: {
          type: "array",
          items: {
            type: "object",
            properties: {
              commit: { type: "string" },
              author: { type: "string" },
              email: { type: "string" },
              date: { type: "string" },
              subject: { type: "string" },
              body: { type: "string" },
            },
            required: ["commit", "date", "subject"],
          },
        },
      },
      required: ["commits"],
    },
  ],
}
