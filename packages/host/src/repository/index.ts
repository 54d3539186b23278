export { type RepositoryLayout, resolveRepository } from "./layout.ts"
export { holdEntries } from "./entries.ts"
export { movedRefs, repositoryState, type RepositoryState } from "./state.ts"
export { type RepositoryView, startsPrograms, viewRepository } from "./view.ts"
