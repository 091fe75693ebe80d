/**
 * The history of a release as helm keeps it: one Secret for each revision. It is read from these Secrets,
 * because helm shows only parts of it, and refuses even those while a revision is pending.
 */
import { gunzipSync } from 'node:zlib';
import { recordOf } from '#contract/schema/is-record.ts';
import type { Job } from '#protocol/messages/job.ts';
import {
  identityOf,
  type KubernetesObject,
  keyOf,
  labelOf,
  parseJsonObjects,
  parseObjects,
} from '../cluster/objects.ts';

/** Labels of the revisions that a run makes. */
export const revisionLabels = {
  environment: 'envarium-environment-id',
  deployment: 'envarium-deployment-id',
} as const;

/** One revision of a release. */
export interface Revision {
  readonly revision: number;
  readonly status: string;
  readonly namespace: string;
  readonly environmentId: string | undefined;
  /** Of the deployment that made it; helm copies it when it rolls back. */
  readonly deploymentId: string | undefined;
  readonly chart: string;
  /** Read when they are needed: most revisions are of no interest. */
  readonly objects: readonly KubernetesObject[];
  readonly hooks: readonly KubernetesObject[];
  /** The Secret that holds it, without its content. */
  readonly record: KubernetesObject;
}

/** As helm starts to work. */
const unfinished = ['pending-install', 'pending-upgrade', 'pending-rollback', 'uninstalling'];
/** More than a Secret can hold, compressed. */
const longestRelease = 256_000_000;

interface StoredRelease {
  readonly name: string;
  readonly namespace?: string;
  readonly manifest?: string;
  readonly hooks?: readonly { readonly manifest?: string }[];
  readonly version?: number;
  readonly info?: { readonly status?: string };
  readonly chart?: { readonly metadata?: { readonly name?: string; readonly version?: string } };
}

function contentOf(secret: KubernetesObject): StoredRelease {
  const text = recordOf(secret['data'])['release'];
  try {
    const packed = Buffer.from(Buffer.from(String(text), 'base64').toString('latin1'), 'base64');
    const isPacked = packed.subarray(0, 2).equals(Buffer.from([0x1f, 0x8b]));
    const bytes = isPacked ? gunzipSync(packed, { maxOutputLength: longestRelease }) : packed;
    return JSON.parse(bytes.toString()) as StoredRelease;
  } catch {
    // A parser's message may contain values of the release.
    throw new Error(
      `Secret ${secret.metadata.name} does not contain a release of helm: delete it, or the whole release`,
    );
  }
}

function textLabel(object: KubernetesObject, name: string): string | undefined {
  const value = labelOf(object, name);
  return typeof value === 'string' ? value : undefined;
}

function revisionOf(secret: KubernetesObject): Revision {
  const release = contentOf(secret);
  const { metadata } = release.chart ?? {};
  const { name, namespace = '' } = secret.metadata;
  let objects: KubernetesObject[] | undefined;
  return {
    revision: release.version ?? Number(labelOf(secret, 'version')),
    status: release.info?.status ?? 'unknown',
    namespace,
    environmentId: textLabel(secret, revisionLabels.environment),
    deploymentId: textLabel(secret, revisionLabels.deployment),
    chart: `${metadata?.name ?? 'unknown'} ${metadata?.version ?? ''}`.trim(),
    get hooks() {
      return (release.hooks ?? []).flatMap(({ manifest = '' }) =>
        parseObjects(manifest, `a hook of revision ${release.version}`),
      );
    },
    get objects() {
      return (objects ??= parseObjects(
        release.manifest ?? '',
        `the manifest of revision ${release.version}`,
      ));
    },
    record: { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace } },
  };
}

/** Release before a run, as helm will see it. */
export interface History {
  /** From the oldest to the newest. */
  readonly revisions: readonly Revision[];
  /** The revision that helm compares with: null before a first installation. */
  readonly base: Revision | null;
  /** Newest revisions that were never finished; helm refuses to work while there is one. */
  readonly unfinished: readonly Revision[];
  /**
   * Objects that may exist in addition to those of `base`: of revisions after it, which failed or never
   * ended.
   */
  readonly others: readonly KubernetesObject[];
}

/** @param captured Secrets of one release, as kubectl shows them */
export function readHistory(captured: Uint8Array | undefined): History {
  const revisions = parseJsonObjects(captured)
    .map(revisionOf)
    .sort((one, other) => one.revision - other.revision);
  const finished = revisions.slice(
    0,
    revisions.findLastIndex(({ status }) => !unfinished.includes(status)) + 1,
  );
  const last = finished.at(-1);
  const deployed = finished.findLast(({ status }) => status === 'deployed');
  const base = deployed ?? (last?.status === 'failed' || last?.status === 'superseded' ? last : null);
  const after = revisions
    .filter(({ revision }) => base === null || revision > base.revision)
    .filter(({ status }) => status !== 'superseded' && status !== 'uninstalled');
  return {
    revisions,
    base,
    unfinished: revisions.slice(finished.length),
    others: after.flatMap(({ objects }) => objects),
  };
}

/** Identity of an object for helm, in whatever version of its group it is written. */
export function objectKey(object: KubernetesObject, namespace: string): string {
  return keyOf(identityOf(object, namespace));
}

/** Objects whose key is not among others; the last of several with one key. */
export function without(
  objects: readonly KubernetesObject[],
  others: readonly KubernetesObject[],
  namespace: string,
): KubernetesObject[] {
  const known = new Set(others.map((object) => objectKey(object, namespace)));
  const found = new Map(objects.map((object) => [objectKey(object, namespace), object]));
  return [...found].filter(([key]) => !known.has(key)).map(([, object]) => object);
}

const policyAnnotation = 'helm.sh/resource-policy';
/** Mark of an object that helm must not delete. */
export const keptAnnotation = `${policyAnnotation}: keep`;

/** Objects that helm never deletes. */
export function isKept({ metadata }: KubernetesObject): boolean {
  return recordOf(metadata['annotations'])[policyAnnotation] === 'keep';
}

/**
 * Whether something other than a run has made an unfinished revision: helm copies labels of the last
 * revision, so that its own operations of people have them, too.
 */
function isForeign(
  { revisions }: History,
  { revision, status, environmentId, deploymentId }: Revision,
): boolean {
  if (environmentId === undefined) return true;
  const previous = revisions.findLast((each) => each.revision < revision);
  if (previous === undefined || previous.status === 'failed' || unfinished.includes(previous.status))
    return false;
  if (status === 'pending-rollback') return true;
  return status === 'pending-upgrade' && deploymentId === previous.deploymentId;
}

/**
 * Says why a run must leave a release alone: it has another owner. @returns null if it does not
 * @param name of the release
 */
export function ownershipProblem(history: History, name: string, job: Job): string | null {
  const newest = history.revisions.at(-1);
  if (newest === undefined) return null;
  const other = newest.environmentId;
  if (other !== undefined && other !== job.environmentId)
    return (
      `release ${name} belongs to the environment ${other}: choose another workspaceName or namespace, or remove the ` +
      `label ${revisionLabels.environment} of its Secret ${newest.record.metadata.name} to take it over`
    );
  const foreign = history.unfinished.find((revision) => isForeign(history, revision));
  if (foreign === undefined) return null;
  return (
    `revision ${foreign.revision} of release ${name} is ${foreign.status}, and no run of this environment has made it: ` +
    `another process is working on the release, or was stopped (helm: "another operation is in progress"). ` +
    `Wait until that has ended, or run helm rollback ${name} or helm uninstall ${name}, then deploy again`
  );
}

/** Whether no deployment of the environment has made a release: a destroy leaves it as it is. */
export function isStrange({ revisions }: History, { environmentId }: Pick<Job, 'environmentId'>): boolean {
  return revisions.length > 0 && revisions.every((revision) => revision.environmentId !== environmentId);
}

/** Outlook for such a release, for the log of a plan. */
export function strangeInWords(history: History, { workspaceName, type, ...job }: Job): string[] {
  if (!isStrange(history, job)) return [];
  const found = `Release ${workspaceName} exists, and no deployment of this environment has made it`;
  return [type === 'destroy' ? `${found}: it stays as it is.` : `${found}: the apply takes it over.`];
}

/** Author of an unfinished revision, for people. */
export function leftBy({ revisions }: History, { revision, status, deploymentId }: Revision): string {
  if (status === 'uninstalling') return 'a destroy of this environment';
  // A rollback has the labels of the revision that it goes back to.
  const made =
    status === 'pending-rollback' ? revisions.findLast((each) => each.revision < revision) : undefined;
  return `deployment ${made?.deploymentId ?? deploymentId ?? 'unknown'} of this environment`;
}

/** Says what stopped runs have left, for the log of a plan. */
export function unfinishedInWords(history: History, name: string): string[] {
  return history.unfinished.map(
    (each) =>
      `Revision ${each.revision} of release ${name} is ${each.status}: ${leftBy(history, each)} was stopped before its ` +
      'end. The apply removes the record of this revision first and continues with what is there.',
  );
}

/** Mark of the objects of a release. */
const marks = {
  name: 'meta.helm.sh/release-name',
  namespace: 'meta.helm.sh/release-namespace',
  label: 'app.kubernetes.io/managed-by',
} as const;

/** Whether an object is part of a release, as helm marks its objects. */
export function isOwned({ metadata }: KubernetesObject, name: string, namespace: string): boolean {
  const annotations = recordOf(metadata['annotations']);
  return annotations[marks.name] === name && annotations[marks.namespace] === namespace;
}

/** An object as helm sends it to the cluster. */
export function withMarks(object: KubernetesObject, name: string, namespace: string): KubernetesObject {
  const { metadata } = object;
  const labels = { ...recordOf(metadata['labels']), [marks.label]: 'Helm' };
  const annotations = {
    ...recordOf(metadata['annotations']),
    [marks.name]: name,
    [marks.namespace]: namespace,
  };
  return { ...object, metadata: { ...metadata, labels, annotations } };
}

/** An object without the marks of helm, which say nothing of what the chart renders to. */
export function withoutMarks(object: KubernetesObject): KubernetesObject {
  const known: readonly string[] = Object.values(marks);
  const fields = Object.entries(object.metadata).flatMap(([field, value]) => {
    if (field !== 'labels' && field !== 'annotations') return [[field, value] as const];
    const kept = Object.entries(recordOf(value)).filter(([name]) => !known.includes(name));
    return kept.length === 0 ? [] : [[field, Object.fromEntries(kept)] as const];
  });
  return { ...object, metadata: { name: object.metadata.name, ...Object.fromEntries(fields) } };
}
