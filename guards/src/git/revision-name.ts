/** The names by which git knows a revision. */

/** As people see it: the name of a branch or a tag without what it begins with; anything else as it is. */
export function revisionName(revision: string): string {
  return revision.replace(/^refs\/(heads|tags)\//, '');
}

/**
 * Whether git can clone it by this name, as a branch or a tag. What may be a commit has to be fetched, and so has a
 * full name: a clone takes the branch where a tag has the same short name.
 */
export function isClonable(revision: string): boolean {
  return !/^[0-9a-f]{4,64}$/i.test(revision) && !isFullName(revision);
}

/** Whether it is a branch or a tag by its full name: a host that does not have it has no other commit for it. */
export function isFullName(revision: string): boolean {
  return revision.startsWith('refs/');
}
