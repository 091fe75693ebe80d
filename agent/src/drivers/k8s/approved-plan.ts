/** Subject of an approval: exactly what an apply sends to the cluster. */
import { parseExactly } from '#contract/schema/exact-json.ts';
import type { KubernetesObject } from '../cluster/objects.ts';
import type { RecordedObject } from './record.ts';

export interface ApprovedObject extends RecordedObject {
  /** A deployment of the environment has applied it before: what others changed in it is taken back. */
  readonly isOurs: boolean;
}

export interface ApprovedPlan {
  /** The namespace to make first; null: none. */
  readonly namespaceToCreate: string | null;
  /** In the order in which they are applied. */
  readonly objects: readonly ApprovedObject[];
  /** Applied objects that are no longer wanted: deleted if they exist and still belong to the environment. */
  readonly deletions: readonly RecordedObject[];
}

const format = { format: 'envarium-kubernetes-plan', version: 1 } as const;

export function writeApproved(plan: ApprovedPlan): Uint8Array {
  return Buffer.from(`${JSON.stringify({ ...format, ...plan })}\n`);
}

const parsed = new WeakMap<Uint8Array, ApprovedPlan>();

/** @throws an Error for plans of other versions @returns the same object for the same bytes */
export function readApproved(bytes: Uint8Array | undefined): ApprovedPlan {
  if (bytes === undefined) throw new Error('the approved plan is missing');
  const known = parsed.get(bytes);
  if (known !== undefined) return known;
  const plan = parseExactly(Buffer.from(bytes).toString()) as ApprovedPlan & Partial<typeof format>;
  if (plan.format !== format.format || plan.version !== format.version)
    throw new Error('the approved plan was made by another version: deploy again and approve the new plan');
  parsed.set(bytes, plan);
  return plan;
}

/** The namespace that a run makes. It belongs to no environment: no destroy removes it. */
export function namespaceObject(name: string): KubernetesObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}
