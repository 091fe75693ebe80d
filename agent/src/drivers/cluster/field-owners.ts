/** Owner of the fields of objects: each environment has its own manager, so that the cluster keeps them apart. */
import type { Job } from '#protocol/messages/job.ts';

const prefix = 'envarium-';

/** Fields that this manager owns are those that deployments of the environment have applied. */
export function fieldManagerOf({ environmentId }: Pick<Job, 'environmentId'>): string {
  return `${prefix}${environmentId}`;
}

/** The environment whose manager this is; null: it belongs to another owner. */
export function environmentOfManager(manager: string): string | null {
  return manager.startsWith(prefix) ? manager.slice(prefix.length) : null;
}

/** Why an object of another environment is refused. */
export function belongsElsewhere(object: string, environment: unknown): string {
  return (
    `${object} belongs to the environment ${JSON.stringify(environment)}: ` +
    'give it another name or namespace, or destroy it there first'
  );
}
