import type { JobVariable } from '#protocol/messages/job.ts';

/** Name of a variable in messages: one of this name may be set at several scopes. */
export function variableTitle({ name, scope }: Pick<JobVariable, 'name' | 'scope'>): string {
  return `Variable ${JSON.stringify(name)}${scope === undefined ? '' : ` (scope ${scope})`}`;
}
