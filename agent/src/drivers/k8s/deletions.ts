/** Which of the objects that a deployment no longer wants are deleted. */
import type { Captures } from '../command.ts';
import type { DriverContext } from '../driver.ts';
import { type KubernetesObject, parseJsonObjects } from '../kubernetes/objects.ts';
import { captured, environmentOf } from './wanted.ts';

function found(captures: Captures): KubernetesObject[] {
  return [captured.deletions, captured.customDeletions].flatMap((name) =>
    parseJsonObjects(captures.get(name)),
  );
}

/** Those that are there and still belong to the environment. */
export function liveDeletions({ job }: DriverContext, captures: Captures): KubernetesObject[] {
  return found(captures).filter((object) => environmentOf(object) === job.environmentId);
}

/** Those that are there, and that somebody has taken out of the environment: they stay. */
export function releasedObjects({ job }: DriverContext, captures: Captures): KubernetesObject[] {
  return found(captures).filter((object) => environmentOf(object) !== job.environmentId);
}
