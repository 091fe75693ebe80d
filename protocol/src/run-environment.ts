/** The environment variables that tools, hooks and tasks of a run see, computed from a job. */
import type { Job } from './messages/job.ts';

const reference = /\$\{(ENVARIUM_[A-Za-z0-9_]+)\}/g;

/**
 * Replaces `${ENVARIUM_…}` by the system variable of that name. Other names stay as
 * they are, and inserted values are not searched again.
 */
export function resolveReferences(value: string, systemVariables: Readonly<Record<string, string>>): string {
  return value.replaceAll(reference, (written, name: string) =>
    Object.hasOwn(systemVariables, name) ? (systemVariables[name] ?? written) : written,
  );
}

/**
 * Variables of type 0 with their references resolved, and the system variables, which win.
 * @returns a map without prototype, so that no name is special
 */
export function runEnvironment(job: Pick<Job, 'variables' | 'systemVariables'>): Record<string, string> {
  const environment: Record<string, string> = Object.create(null);
  for (const { name, value } of job.variables.environment)
    environment[name] = resolveReferences(value, job.systemVariables);
  return Object.assign(environment, job.systemVariables);
}
