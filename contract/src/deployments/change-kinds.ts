/** Changes of a plan to a resource. */

/** In the order in which people should read them: what can be lost comes first. */
export const changeKinds = [
  'destroy',
  'replace',
  'forget',
  'update',
  'create',
  'import',
  'move',
  'invoke',
  'unknown',
  'defer',
  'note',
] as const;
export type ChangeKind = (typeof changeKinds)[number];
