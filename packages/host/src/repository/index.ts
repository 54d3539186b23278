export { type RepositoryLayout, repositoryTop, resolveRepository } from "./layout.ts"
export { holdEntries } from "./entries.ts"
export { holdingNothing } from "./held.ts"
export { type RepositoryView, startsPrograms, viewRepository } from "./view.ts"
