import type { JobVariable } from '#protocol/messages/job.ts';

/** How messages name a variable: one of this name may be set at several scopes. */
export function variableTitle({ name, scope }: Pick<JobVariable, 'name' | 'scope'>): string {
  return `Variable ${JSON.stringify(name)}${scope === undefined ? '' : ` (scope ${scope})`}`;
}
