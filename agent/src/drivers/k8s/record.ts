/** The record of what a deployment has applied: how it is read, and how its next version is composed. */
import { createHash } from 'node:crypto';
import { parseExactly } from '#contract/schema/exact-json.ts';
import { recordFormat } from '#protocol/tools/states/kubernetes-record.ts';
import { providerName } from '../cluster/changes.ts';
import { identityOf, type KubernetesObject, keyOf, type ObjectIdentity } from '../cluster/objects.ts';
import { type StateReading, TornState } from '../interface/driver.ts';

/** An object as it was sent to the cluster. */
export interface RecordedObject {
  /** Its namespace, if it has none of its own; empty for an object of the whole cluster. */
  readonly namespace: string;
  readonly object: KubernetesObject;
  /** An apply was about to create it, and has not succeeded: it may be there, and may have another owner. */
  readonly mayExist?: true;
  /** An apply was about to change it, and has not succeeded: no one caused the difference. */
  readonly mayDiffer?: true;
}

export interface AppliedRecord {
  readonly serial: number;
  readonly lineage: string;
  readonly toolVersion: string | null;
  readonly objects: readonly RecordedObject[];
}

function recordedIdentity({ object, namespace }: RecordedObject): ObjectIdentity {
  return identityOf(object, namespace);
}

export function recordedKey(recorded: RecordedObject): string {
  return keyOf(recordedIdentity(recorded));
}

/** @throws TornState if the bytes are incomplete; an Error for another format */
function parse(bytes: Uint8Array): AppliedRecord {
  let file: (AppliedRecord & { readonly format?: unknown; readonly version?: unknown }) | null;
  try {
    file = parseExactly(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as typeof file;
  } catch (error) {
    throw new TornState('the record of applied objects is incomplete', { cause: error });
  }
  if (file?.format !== recordFormat.format || file.version !== recordFormat.version)
    throw new Error(
      `the state of the environment is of another tool or version: it must be ${recordFormat.format}, version ${recordFormat.version}`,
    );
  return file;
}

const parsed = new WeakMap<Uint8Array, AppliedRecord>();

/** @param bytes undefined: nothing was applied yet @returns the same object for the same bytes */
export function readRecord(bytes: Uint8Array | undefined): AppliedRecord | null {
  if (bytes === undefined) return null;
  const known = parsed.get(bytes) ?? parse(bytes);
  parsed.set(bytes, known);
  return known;
}

/** The record as every other state is read. @throws TornState if the bytes are incomplete */
export function readRecordAsState(bytes: Uint8Array): StateReading {
  const { serial, lineage, objects } = parse(bytes);
  const resources = objects.map((recorded) => {
    const { apiVersion, kind, namespace, name } = recordedIdentity(recorded);
    return { provider: providerName, type: `${apiVersion}/${kind}`, name, moduleName: namespace };
  });
  return {
    serial,
    lineage,
    outputs: {},
    resources,
    ids: resources.map(() => undefined),
    resourceCount: resources.length,
    hash: createHash('sha256').update(JSON.stringify(objects)).digest('hex'),
  };
}

/** A new lineage: equal for all phases and attempts of one deployment. */
function lineageOf(deploymentId: string): string {
  const hex = createHash('sha256').update(`${recordFormat.format}:${deploymentId}`).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

/** The version that follows a record. @param former null: there is none yet */
export function nextRecord(
  former: AppliedRecord | null,
  objects: readonly RecordedObject[],
  { deploymentId, toolVersion }: { readonly deploymentId: string; readonly toolVersion: string | null },
): Uint8Array {
  const file = {
    ...recordFormat,
    serial: (former?.serial ?? 0) + 1,
    lineage: former?.lineage ?? lineageOf(deploymentId),
    toolVersion,
    objects,
  };
  return Buffer.from(`${JSON.stringify(file)}\n`);
}

/** Everything of both; of an object in both, the newer one. */
export function union(
  former: readonly RecordedObject[],
  newer: readonly RecordedObject[],
): readonly RecordedObject[] {
  const keys = new Set(newer.map(recordedKey));
  return [...former.filter((recorded) => !keys.has(recordedKey(recorded))), ...newer];
}
