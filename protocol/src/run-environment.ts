/** The environment variables that tools, hooks and tasks of a run see, computed from a job. */
import type { Job } from './messages/job.ts';

/** Linux passes no longer variable to a process, with its name. */
const longestVariable = 128 * 1024 - 1;

const reference = /\$\{(ENVARIUM_[A-Za-z0-9_]+)\}/g;

/** The length of a value once its references are replaced, without making it. */
function resolvedLength(value: string, systemVariables: Readonly<Record<string, string>>): number {
  let length = Buffer.byteLength(value);
  for (const [written, name = ''] of value.matchAll(reference))
    if (Object.hasOwn(systemVariables, name))
      length += Buffer.byteLength(systemVariables[name] ?? '') - written.length;
  return length;
}

/** Says of each variable of a run that no process could get why. */
export function longVariables(job: Pick<Job, 'variables' | 'systemVariables'>): string[] {
  return job.variables.environment.flatMap(({ name, value, reference: resolved, isLiteral }) => {
    const isPlain = resolved !== undefined || isLiteral === true;
    const bytes = isPlain ? Buffer.byteLength(value) : resolvedLength(value, job.systemVariables);
    return bytes + Buffer.byteLength(name) + 1 <= longestVariable
      ? []
      : [
          `${name}: its value has ${bytes} bytes, and an environment variable of a run can have 128 KB with its name`,
        ];
  });
}

/**
 * Replaces `${ENVARIUM_…}` by the system variable of that name. Other names stay as
 * they are, and inserted values are not searched again. A text that would become too long for a process stays, too.
 */
function resolveReferences(value: string, systemVariables: Readonly<Record<string, string>>): string {
  // Called for every variable by every command, and nearly all have none.
  if (!value.includes('${ENVARIUM_')) return value;
  if (resolvedLength(value, systemVariables) > longestVariable) return value;
  return value.replaceAll(reference, (written, name: string) =>
    Object.hasOwn(systemVariables, name) ? (systemVariables[name] ?? written) : written,
  );
}

type JobVariables = Pick<Job, 'variables' | 'systemVariables'>;

/** Drivers ask for every command, and a run may have hundreds of variables. */
const known = new WeakMap<JobVariables, Readonly<Record<string, string>>>();

/**
 * Variables of type 0 with their references to system variables resolved, and the system variables, which win. The
 * value from a secret store is not searched for references.
 * @param job not changed afterwards
 * @returns a map without prototype, so that no name is special; the same one for the same job
 */
export function runEnvironment(job: JobVariables): Readonly<Record<string, string>> {
  const environment = known.get(job) ?? makeEnvironment(job);
  known.set(job, environment);
  return environment;
}

function makeEnvironment(job: JobVariables): Record<string, string> {
  const environment: Record<string, string> = Object.create(null);
  for (const { name, value, reference, isLiteral } of job.variables.environment)
    environment[name] =
      reference === undefined && isLiteral !== true ? resolveReferences(value, job.systemVariables) : value;
  return Object.assign(environment, job.systemVariables);
}
