/** Decides which of the objects that a deployment no longer wants are deleted. */

import { groupOf, type KubernetesObject, type ObjectIdentity, parseJsonObjects } from '../cluster/objects.ts';
import type { PhaseCaptures } from '../interface/command.ts';
import type { DriverContext } from '../interface/driver.ts';
import type { RecordedObject } from './record.ts';
import { captured, environmentOf } from './wanted.ts';

function kindOf(object: Pick<ObjectIdentity, 'apiVersion' | 'kind'>): string {
  return `${groupOf(object)}/${object.kind}`;
}

/** The kinds of the cluster, with the version of each that it prefers, from lines of `kubectl api-resources`. */
function servedVersions(captures: PhaseCaptures): Map<string, string> {
  const lines = Buffer.from(captures.get(captured.kinds) ?? [])
    .toString()
    .split('\n');
  return new Map(
    lines.flatMap((line) => {
      const [apiVersion = '', , kind = ''] = line.trimEnd().split(/\s+/).slice(-3);
      return kind === '' ? [] : [[kindOf({ apiVersion, kind }), apiVersion] as const];
    }),
  );
}

/** Recorded objects by what finds them in the cluster: in a version that it serves now. */
export function servedReferences(
  objects: readonly RecordedObject[],
  captures: PhaseCaptures,
): KubernetesObject[] {
  const versions = servedVersions(captures);
  return objects.flatMap(({ object, namespace }) => {
    const apiVersion = versions.get(kindOf(object));
    if (apiVersion === undefined) return [];
    const place = namespace === '' ? {} : { namespace };
    return [{ apiVersion, kind: object.kind, metadata: { name: object.metadata.name, ...place } }];
  });
}

function found(captures: PhaseCaptures): KubernetesObject[] {
  return parseJsonObjects(captures.get(captured.deletions));
}

/** Those that are there and still belong to the environment. */
export function liveDeletions({ job }: DriverContext, captures: PhaseCaptures): KubernetesObject[] {
  return found(captures).filter((object) => environmentOf(object) === job.environmentId);
}

/** Those that are there, and were taken out of the environment: they stay. */
export function releasedObjects({ job }: DriverContext, captures: PhaseCaptures): KubernetesObject[] {
  return found(captures).filter((object) => environmentOf(object) !== job.environmentId);
}
