/** The plan of a run on Kubernetes, as rows and as what its apply will send. */
import { isDeepStrictEqual } from 'node:util';
import type { ResourceChange } from '#contract/deployments/plan.ts';
import { planReading, rowOf } from '../cluster/changes.ts';
import { type ObjectPair, readDiff } from '../cluster/diff.ts';
import { uncheckedInWords } from '../cluster/elsewhere.ts';
import { belongsElsewhere } from '../cluster/field-owners.ts';
import { addressOf, identityOf, keyOf, parseJsonObjects } from '../cluster/objects.ts';
import type { PhaseCaptures } from '../interface/command.ts';
import type { DriverContext, PlanReading } from '../interface/driver.ts';
import { namespaceObject, writeApproved } from './approved-plan.ts';
import { liveDeletions, releasedObjects } from './deletions.ts';
import { recordedKey } from './record.ts';
import {
  captured,
  environmentLabel,
  environmentOf,
  type Missing,
  missingOf,
  type RunManifests,
  readWanted,
  type WantedObject,
} from './wanted.ts';

const reasons = {
  adopted: 'it exists already, and becomes part of the environment',
  removed: 'it was removed by hand',
  undeclared: `it has the label ${environmentLabel} of the environment, and no manifest declares it: it is not deleted`,
  released: `it no longer has the label ${environmentLabel} of the environment: it is not deleted`,
} as const;

/** The differences by their objects. A cluster names no namespace for objects of the whole cluster. */
function pairsByKey(captures: PhaseCaptures, defaultNamespace: string): Map<string, ObjectPair> {
  const found = new Map<string, ObjectPair>();
  for (const name of [captured.ours, captured.others])
    for (const pair of readDiff(captures.get(name))) {
      const object = pair.merged ?? pair.live;
      if (object === null) continue;
      found.set(keyOf(identityOf(object, '')), pair);
      // Of a kind of the whole cluster that is not of Kubernetes itself.
      if (object.metadata.namespace === undefined)
        found.set(keyOf(identityOf(object, defaultNamespace)), pair);
    }
  return found;
}

/** @throws an Error that names an object of another environment */
function refuseOthers({ live }: ObjectPair, { identity }: WantedObject, { job }: DriverContext): void {
  const owner = live === null ? undefined : environmentOf(live);
  if (owner !== undefined && owner !== job.environmentId)
    throw new Error(belongsElsewhere(addressOf(identity), owner));
}

function rowOfWanted(
  context: DriverContext,
  wanted: WantedObject,
  pair: ObjectPair | undefined,
  { isNew }: Missing,
): ResourceChange | null {
  const { object, recorded, namespace, isSettled } = wanted;
  if (isNew(wanted)) return rowOf({ live: null, merged: object }, { defaultNamespace: namespace });
  if (pair === undefined) return null;
  refuseOthers(pair, wanted, context);
  const isDrift = isSettled && recorded !== undefined && isDeepStrictEqual(recorded, object);
  const isRemoved = isDrift && pair.live === null;
  const isAdopted =
    recorded === undefined && pair.live !== null && environmentOf(pair.live) !== context.job.environmentId;
  return rowOf(pair, {
    defaultNamespace: '',
    isDrift,
    ...(isRemoved ? { reason: reasons.removed } : {}),
    ...(isAdopted ? { reason: reasons.adopted } : {}),
  });
}

/** Objects with the label of the environment that are not declared. */
function undeclaredRows({ objects, deletions }: RunManifests, captures: PhaseCaptures): ResourceChange[] {
  const known = new Set([...objects.map(({ key }) => key), ...deletions.map(recordedKey)]);
  return parseJsonObjects(captures.get(captured.labelled)).flatMap((live) => {
    const isKnown = known.has(keyOf(identityOf(live, '')));
    if (isKnown || live.metadata['ownerReferences'] !== undefined) return [];
    const options = { defaultNamespace: '', isDrift: true, reason: reasons.undeclared };
    return rowOf({ live, merged: null }, options) ?? [];
  });
}

/** @throws an Error that names an object that cannot be applied */
export function readPlan(context: DriverContext, captures: PhaseCaptures): PlanReading {
  const wanted = readWanted(context, captures);
  const missing = missingOf(wanted, captures);
  const pairs = pairsByKey(captures, wanted.defaultNamespace);
  const options = { defaultNamespace: '' };
  const { namespaceToCreate } = missing;
  const made =
    namespaceToCreate === null
      ? []
      : (rowOf({ live: null, merged: namespaceObject(namespaceToCreate) }, options) ?? []);
  const rows = [
    made,
    ...wanted.objects.map((object) => rowOfWanted(context, object, pairs.get(object.key), missing) ?? []),
    ...liveDeletions(context, captures).map((live) => rowOf({ live, merged: null }, options) ?? []),
    undeclaredRows(wanted, captures),
  ].flat();
  const settled = releasedObjects(context, captures).flatMap(
    (live) => rowOf({ live, merged: null }, { ...options, reason: reasons.released }) ?? [],
  );
  return { ...planReading(rows, context.job.secrets, settled), remarks: uncheckedInWords(captures) };
}

/** Subject of an approval. */
export function composePlan(context: DriverContext, captures: PhaseCaptures): Uint8Array {
  const wanted = readWanted(context, captures);
  const { namespaceToCreate } = missingOf(wanted, captures);
  return writeApproved({
    namespaceToCreate,
    objects: wanted.objects.map(({ object, namespace, recorded }) => ({
      object,
      namespace,
      isOurs: recorded !== undefined,
    })),
    deletions: wanted.deletions,
  });
}
