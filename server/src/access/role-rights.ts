/** Who may do what, as a table: the rights of each built-in role. */
import { type Right, rights } from '#contract/schema/enumerations.ts';

export const roleRights: ReadonlyMap<string, ReadonlySet<Right>> = new Map([
  // Organization Admin.
  ['Admin', new Set(rights)],
]);

/** Whether a role has a right; a role that nobody knows has none. */
export function roleHas(role: string | undefined, right: Right): boolean {
  return role !== undefined && (roleRights.get(role)?.has(right) ?? false);
}
