export { fingerprint, type WriteOptions } from "./atomic-write.ts"
export { DEFAULT_DENY_READ, DEFAULT_DENY_WRITE } from "./deny-list.ts"
export { discoverMounts, MOUNT_POINTS, type PathMapping } from "./mapping.ts"
export { pathFailure, printable } from "./path-errors.ts"
export type { Access, Located, PathPolicy, PathPolicyConfig } from "./policy.ts"
export type { Root, RootAccess, RootConfig } from "./roots.ts"
export { kindOf, type EntryKind, type WalkEntry, type WalkOptions, type WalkSummary } from "./walk.ts"
export {
  createWorkspace,
  FILE_LIMIT_BYTES,
  hashOf,
  type FileContent,
  type OpenedFile,
  type Workspace,
  type WorkspaceConfig,
  type Written,
} from "./workspace.ts"
