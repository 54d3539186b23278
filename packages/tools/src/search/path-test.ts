/** Whether a path with `/` is meant by a pattern. */
export type PathTest = (path: string) => boolean
