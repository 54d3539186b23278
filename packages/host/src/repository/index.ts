export { type RepositoryLayout, resolveRepository } from "./layout.ts"
export { holdEntries } from "./entries.ts"
export { movedRefs, repositoryState, type RepositoryState } from "./state.ts"
export { type RepositoryView, viewRepository } from "./view.ts"
