/**
 * Requests of helm to the cluster for each object of a release: a new object, or a patch computed from the manifest
 * of the last revision, the next manifest, and the object as it is.
 */
import { isDeepStrictEqual } from 'node:util';
import { recordOf } from '#contract/schema/is-record.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { helmArguments } from '#protocol/tools/helm/arguments.ts';
import type { Fields } from '../cluster/json-values.ts';
import { addingMergePatch, mergePatch, withMergePatch } from '../cluster/merge-patch.ts';
import { mergeRuleOf } from '../cluster/merge-rules.ts';
import { addressOf, identityOf, type KubernetesObject } from '../cluster/objects.ts';
import { strategicPatch, withFields } from '../cluster/strategic-patch.ts';
import type { PhaseCaptures } from '../interface/command.ts';
import type { DriverContext } from '../interface/driver.ts';
import { historyOf, isInstallation, liveObjects, releaseNamespace, requireRendering } from './captures.ts';
import { objectKey, withMarks } from './releases.ts';

export interface ObjectChange {
  readonly address: string;
  /** As helm sends it, with its marks. */
  readonly object: KubernetesObject;
  /** As it is in the cluster; null: helm creates it. */
  readonly live: KubernetesObject | null;
  /** Null: helm sends nothing that would change the object, or sends it as a whole. */
  readonly patch: ObjectPatch | null;
  /** The name of what the cluster makes of the patch, among the captures. */
  readonly captureTo: string;
  /** It leads back to the last revision. */
  readonly isRepair: boolean;
}

export interface ObjectPatch {
  readonly type: 'strategic' | 'merge';
  readonly fields: Fields;
}

function hasOption({ job }: Pick<DriverContext, 'job'>, option: string): boolean {
  return helmArguments(runEnvironment(job), 'upgrade').some(
    (word) => word === option || word === `${option}=true`,
  );
}

/** Whether helm sends whole objects instead of patches. */
export function isReplacing(context: DriverContext): boolean {
  return hasOption(context, '--force');
}

/** An object where it is in the cluster, whether its manifest names the namespace or not. */
function placed(object: KubernetesObject, { metadata: { namespace } }: KubernetesObject): KubernetesObject {
  return namespace === undefined ? object : { ...object, metadata: { ...object.metadata, namespace } };
}

/** @param keepsOthers others' changes of kinds that they have defined stay, unless the manifest has changed */
function patchOf(
  last: KubernetesObject,
  next: KubernetesObject,
  live: KubernetesObject,
  keepsOthers: boolean,
): ObjectPatch | null {
  const rule = mergeRuleOf(next);
  if (rule !== null) {
    const fields = strategicPatch(last, next, live, rule);
    return Object.keys(fields).length === 0 ? null : { type: 'strategic', fields };
  }
  const fields = keepsOthers ? mergePatch(last, next) : addingMergePatch(live, next);
  return isDeepStrictEqual(withMergePatch(live, fields), live) ? null : { type: 'merge', fields };
}

interface ObjectVersions {
  readonly last: KubernetesObject | undefined;
  readonly next: KubernetesObject;
  readonly live: KubernetesObject | undefined;
  readonly keepsOthers: boolean;
}

type ChangeTarget = Pick<ObjectChange, 'address' | 'captureTo' | 'isRepair'>;

/** @throws Error that names an object that helm cannot compare */
function changeOf({ last, next, live, keepsOthers }: ObjectVersions, place: ChangeTarget): ObjectChange {
  if (live === undefined) return { ...place, object: next, live: null, patch: null };
  const object = placed(next, live);
  try {
    // An object that no finished revision had is compared with itself: nothing of it is removed.
    const patch = patchOf(last === undefined ? object : placed(last, live), object, live, keepsOthers);
    return { ...place, object, live, patch };
  } catch (error) {
    throw new Error(`${place.address}: ${(error as Error).message}`, { cause: error });
  }
}

/** Changes of an upgrade to the objects of the next revision. */
export function upgradeChanges(context: DriverContext, captures: PhaseCaptures): ObjectChange[] {
  const namespace = releaseNamespace(context, captures);
  const live = liveObjects(context, captures);
  const base = historyOf(captures).base?.objects ?? [];
  const last = new Map(base.map((object) => [objectKey(object, namespace), object]));
  const keepsOthers = !(isInstallation(captures) && hasOption(context, '--take-ownership'));
  return requireRendering(captures).objects.map((object, index) => {
    const key = objectKey(object, namespace);
    const next = withMarks(object, context.job.workspaceName, namespace);
    const sides = { last: last.get(key), next, live: live.get(key), keepsOthers };
    const address = addressOf(identityOf(object, namespace));
    return changeOf(sides, { address, captureTo: `changed-${index}.json`, isRepair: false });
  });
}

/** Changes that would restore the objects of the last revision. */
export function repairChanges(context: DriverContext, captures: PhaseCaptures): ObjectChange[] {
  const namespace = releaseNamespace(context, captures);
  const live = liveObjects(context, captures);
  const upgrade = new Map(upgradeChanges(context, captures).map((change) => [change.address, change]));
  return (historyOf(captures).base?.objects ?? []).map((object, index) => {
    const next = withMarks(object, context.job.workspaceName, namespace);
    const sides = { last: next, next, live: live.get(objectKey(object, namespace)), keepsOthers: false };
    const address = addressOf(identityOf(object, namespace));
    const change = changeOf(sides, { address, captureTo: `repaired-${index}.json`, isRepair: true });
    const same = upgrade.get(change.address);
    // Usually the upgrade does it, and its dry run says enough.
    return same !== undefined && isDeepStrictEqual(same.patch, change.patch) ? same : change;
  });
}

/** Result of a change to an object, whether the cluster accepts that or not. */
export function wantedObject({ object, live, patch }: ObjectChange): KubernetesObject {
  if (live === null) return object;
  const rule = mergeRuleOf(object);
  const merged =
    patch === null
      ? live
      : rule === null
        ? withMergePatch(live, patch.fields)
        : withFields(live, object, rule);
  return recordOf(merged) as unknown as KubernetesObject;
}
