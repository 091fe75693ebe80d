/** The rows of a plan, from what objects are and what they would be. */
import { isDeepStrictEqual } from 'node:util';
import type { Plan, ResourceChange } from '#contract/deployments/plan.ts';
import { isRecord, recordOf } from '#contract/schema/is-record.ts';
import { maskJson } from '../../logs/mask.ts';
import type { PlanReading } from '../interface/driver.ts';
import { withSummary } from '../interface/plan-summary.ts';
import { sensitiveText, withoutLongTexts } from '../interface/plan-values.ts';
import type { ObjectPair } from './diff.ts';
import {
  addressOf,
  groupOf,
  identityOf,
  isDefinition,
  isNamespace,
  type KubernetesObject,
} from './objects.ts';

export const providerName = 'kubernetes';

/** Set by the cluster, and never by a manifest. */
const serverFields = [
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'generation',
  'managedFields',
  'resourceVersion',
  'selfLink',
  'uid',
];
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** Fields of an object that people decide: without those that the cluster adds, and without `status`. */
function withoutServerFields(object: KubernetesObject): KubernetesObject {
  const { status: _, metadata, ...rest } = object;
  const kept = Object.fromEntries(Object.entries(metadata).filter(([name]) => !serverFields.includes(name)));
  const { [lastApplied]: __, ...annotations } = recordOf(metadata['annotations']);
  if (Object.keys(annotations).length > 0) kept['annotations'] = annotations;
  else delete kept['annotations'];
  return { ...rest, metadata: { ...kept, name: metadata.name } } as KubernetesObject;
}

/** Fields of a Secret that contain values. */
const secretFields = ['data', 'stringData'];

function isSecret(object: KubernetesObject): boolean {
  return object.kind === 'Secret' && groupOf(object) === '';
}

/** An object in both of its forms, as people may see it. */
interface VisibleObject {
  readonly live: KubernetesObject | null;
  readonly merged: KubernetesObject | null;
}

/** Hides the values of a Secret: only whether one changes can be seen. */
function hidden(object: KubernetesObject | null): KubernetesObject | null {
  if (object === null || !isSecret(object)) return object;
  const fields = secretFields.flatMap((name) => {
    const value = object[name];
    if (value === undefined || value === null) return [];
    const keys = isRecord(value) ? Object.keys(value).map((key) => [key, sensitiveText]) : null;
    return [[name, keys === null ? sensitiveText : Object.fromEntries(keys)]];
  });
  return { ...object, ...Object.fromEntries(fields) };
}

function withoutValues(secret: KubernetesObject): Record<string, unknown> {
  return Object.fromEntries(Object.entries(secret).filter(([name]) => !secretFields.includes(name)));
}

interface FieldDifference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

function inner(path: string, key: string): string {
  if (!/^[\w-]+$/.test(key)) return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** By their names if all parts of a list have one, as containers, ports and variables have. */
function byName(list: readonly unknown[]): Map<string, unknown> | null {
  const found = new Map<string, unknown>();
  for (const part of list) {
    const name = recordOf(part)['name'];
    if (typeof name !== 'string' || found.has(name)) return null;
    found.set(name, part);
  }
  return found;
}

function differences(before: unknown, after: unknown, path: string): FieldDifference[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (isRecord(before) && isRecord(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])]
      .sort()
      .flatMap((key) => differences(before[key], after[key], inner(path, key)));
  if (Array.isArray(before) && Array.isArray(after)) {
    const left = byName(before);
    const right = byName(after);
    if (left !== null && right !== null)
      return [...new Set([...left.keys(), ...right.keys()])].flatMap((name) =>
        differences(left.get(name), right.get(name), `${path}[${name}]`),
      );
    if (before.length === after.length)
      return before.flatMap((part, index) => differences(part, after[index], `${path}[${index}]`));
  }
  return [{ path, before, after }];
}

/** The parts of an object that is created or deleted. */
function parts(object: KubernetesObject): Map<string, unknown> {
  const { apiVersion: _, kind: __, metadata, ...rest } = object;
  const { labels, annotations } = metadata;
  const all = Object.entries({
    ...(labels === undefined ? {} : { 'metadata.labels': labels }),
    ...(annotations === undefined ? {} : { 'metadata.annotations': annotations }),
    ...rest,
  });
  return new Map(all.filter(([, value]) => value !== null && value !== undefined));
}

type ResourceAttribute = ResourceChange['attributes'][number];

function attribute(name: string, before: unknown, after: unknown): ResourceAttribute {
  return {
    name,
    ...(before === undefined || before === null ? {} : { before }),
    ...(after === undefined || after === null ? {} : { after }),
  };
}

/** Of a Secret whose values differ, each key says so, and none shows a value. */
function secretDifferences({ live, merged }: ObjectPair): FieldDifference[] {
  return secretFields.flatMap((field) => {
    const before = recordOf(live?.[field]);
    const after = recordOf(merged?.[field]);
    return [...new Set([...Object.keys(before), ...Object.keys(after)])]
      .sort()
      .filter((key) => before[key] !== after[key])
      .map((key) => ({
        path: inner(field, key),
        before: before[key] === undefined ? undefined : sensitiveText,
        after: after[key] === undefined ? undefined : sensitiveText,
      }));
  });
}

function attributesOf(pair: ObjectPair, shown: VisibleObject): ResourceAttribute[] {
  const { live, merged } = shown;
  if (live === null || merged === null) {
    const object = live ?? merged;
    const found = object === null ? [] : [...parts(object)];
    return found.map(([name, value]) =>
      live === null ? attribute(name, undefined, value) : attribute(name, value, undefined),
    );
  }
  const found = isSecret(merged)
    ? [...differences(withoutValues(live), withoutValues(merged), ''), ...secretDifferences(pair)]
    : differences(live, merged, '');
  return found.map(({ path, before, after }) => attribute(path, before, after));
}

export interface RowOptions {
  readonly defaultNamespace: string;
  /** The row says so: only the cluster has changed, and not what was rendered. */
  readonly isDrift?: boolean;
  readonly reason?: string;
}

/**
 * One object's row. It contains neither fields that only the cluster sets nor values of Secrets.
 * @param pair `merged` null: the object is deleted; `live` null: it is created
 * @returns null if nothing changes
 */
export function rowOf(
  pair: ObjectPair,
  { defaultNamespace, isDrift, reason }: RowOptions,
): ResourceChange | null {
  const live = pair.live === null ? null : withoutServerFields(pair.live);
  const merged = pair.merged === null ? null : withoutServerFields(pair.merged);
  const object = merged ?? live;
  if (object === null) return null;
  const shown = { live: hidden(live), merged: hidden(merged) };
  const attributes = attributesOf({ live, merged }, shown);
  if (live !== null && merged !== null && attributes.length === 0) return null;
  const identity = identityOf(object, defaultNamespace);
  const uid = pair.live?.metadata['uid'];
  const why = reason ?? (merged === null ? lossOf(object) : undefined);
  return {
    ...(typeof uid === 'string' ? { id: uid } : {}),
    name: identity.name,
    providerName,
    type: `${identity.apiVersion}/${identity.kind}`,
    path: addressOf(identity),
    ...(identity.namespace === '' ? {} : { moduleName: identity.namespace }),
    action: live === null ? 'create' : merged === null ? 'delete' : 'update',
    ...(isDrift === true ? { driftByCloud: true } : {}),
    attributes,
    ...(why === undefined ? {} : { actionReason: why }),
  };
}

/** Objects that are deleted together with another, and have no row of their own. */
function lossOf(object: KubernetesObject): string | undefined {
  if (isNamespace(object))
    return 'everything in the namespace is deleted with it, regardless of who created it';
  if (isDefinition(object))
    return 'all objects of this kind are deleted with it, regardless of who created them';
  return undefined;
}

/**
 * A plan of these rows.
 * @param secrets whatever contains one of them is masked
 * @param settled rows of what was found and would not be changed
 */
export function planReading(
  rows: readonly ResourceChange[],
  secrets: readonly string[],
  settled: readonly ResourceChange[] = [],
): PlanReading {
  const plan: Plan = {
    resourceChanges: [...rows],
    ...(settled.length === 0 ? {} : { settled: [...settled] }),
    outputChanges: [],
  };
  return {
    ...withSummary(withoutLongTexts(maskJson(plan, secrets))),
    hasChanges: rows.length > 0,
    hasResourceChanges: rows.length > 0,
    providerVersions: {},
    moduleVersions: {},
  };
}
