/** The names by which git knows a revision. */

/** The name of a branch or a tag without what it begins with; anything else as it is. */
export function revisionName(revision: string): string {
  return revision.replace(/^refs\/(heads|tags)\//, '');
}

/** Whether git can clone it by this name, as a branch or a tag; what may be a commit has to be fetched. */
export function isClonable(name: string): boolean {
  return !/^[0-9a-f]{4,64}$/i.test(name) && !name.startsWith('refs/');
}
