/** Inputs of a plan: the rendered manifests, the record of what was applied, and the objects in the cluster. */
import { recordOf } from '#contract/schema/is-record.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { type KubernetesVariables, readKubernetesVariables } from '#protocol/tools/kubernetes-variables.ts';
import {
  addressOf,
  groupOf,
  identityOf,
  isBuiltIn,
  isDefinition,
  isNamespace,
  isOfCluster,
  type KubernetesObject,
  keyOf,
  labelOf,
  type ObjectIdentity,
  parseJsonObjects,
  parseObjects,
  refuseDuplicates,
  withLabels,
} from '../cluster/objects.ts';
import { inputs, type PhaseCaptures } from '../interface/command.ts';
import type { DriverContext } from '../interface/driver.ts';
import { namespaceObject } from './approved-plan.ts';
import { type AppliedRecord, type RecordedObject, readRecord, recordedKey } from './record.ts';

/** Names of what the commands of a plan capture. */
export const captured = {
  kubeconfig: 'kubeconfig.json',
  rendered: 'rendered.yaml',
  basis: 'basis.json',
  ours: 'ours.diff',
  others: 'others.diff',
  kinds: 'kinds.txt',
  deletions: 'deletions.json',
  labelled: 'labelled.json',
} as const;

/** A label of all objects of an environment. */
export const environmentLabel = 'envarium-environment-id';
const managerLabels = { 'app.kubernetes.io/managed-by': 'envarium' } as const;

/** A rendered object, and what is known of it. */
export interface WantedObject extends RecordedObject {
  readonly identity: ObjectIdentity;
  readonly key: string;
  /** As it was applied before; undefined: this environment has not applied it. */
  readonly recorded: KubernetesObject | undefined;
  /** Whether it is certain that this is how it was left. */
  readonly isSettled: boolean;
}

/** Objects in the manifests of a run. */
export interface RunManifests {
  readonly variables: KubernetesVariables;
  readonly defaultNamespace: string;
  readonly record: AppliedRecord | null;
  readonly objects: readonly WantedObject[];
  /** Applied objects that are no longer rendered. */
  readonly deletions: readonly RecordedObject[];
}

export function variablesOf({ job }: Pick<DriverContext, 'job'>): KubernetesVariables {
  return readKubernetesVariables(runEnvironment(job));
}

interface KubeconfigContexts {
  readonly contexts?: readonly { readonly context?: { readonly namespace?: string } }[];
}

/** Of objects that name no namespace. */
function defaultNamespaceOf({ namespace }: KubernetesVariables, captures: PhaseCaptures): string {
  if (namespace !== undefined) return namespace;
  const bytes = captures.get(captured.kubeconfig);
  const file = bytes === undefined ? {} : (JSON.parse(Buffer.from(bytes).toString()) as KubeconfigContexts);
  return file.contexts?.[0]?.context?.namespace ?? 'default';
}

const rendered = new WeakMap<Uint8Array, readonly KubernetesObject[]>();

/** The same list for the same bytes: several commands ask for it. */
function renderedObjects(bytes: Uint8Array | undefined): readonly KubernetesObject[] {
  if (bytes === undefined) return [];
  const known = rendered.get(bytes) ?? parseObjects(bytes, 'the rendered manifests');
  rendered.set(bytes, known);
  return known;
}

/** An object with its namespace, which another kubeconfig might fill in differently. */
function placed(object: KubernetesObject, namespace: string): KubernetesObject {
  const { metadata } = object;
  // Of kinds that others have defined, it is unknown whether they are in a namespace.
  if (isOfCluster(object) || !isBuiltIn(object) || metadata.namespace !== undefined) return object;
  return { ...object, metadata: { ...metadata, namespace } };
}

/** Fields that are certainly ours: by them, fields of others are taken back. */
function appliedObject(entry: RecordedObject | undefined): KubernetesObject | undefined {
  return entry?.mayExist === true ? undefined : entry?.object;
}

/** Otherwise, a rendering that went wrong would delete all that there is. */
const nothingRendered =
  'the rendered manifests contain no objects: check the files in the folder of the configuration; if the environment should have none, destroy it';

/** @throws an Error that names an object that is not complete, or is there twice, or if there are none */
export function readWanted(context: DriverContext, captures: PhaseCaptures): RunManifests {
  const own = variablesOf(context);
  const variables = { ...own, createsNamespace: own.createsNamespace && context.job.type !== 'destroy' };
  const defaultNamespace = defaultNamespaceOf(variables, captures);
  const record = readRecord(captures.get(inputs.state));
  const recorded = new Map(record?.objects.map((entry) => [recordedKey(entry), entry]));
  const found = renderedObjects(captures.get(captured.rendered));
  if (found.length === 0 && context.job.type !== 'destroy') throw new Error(nothingRendered);
  refuseDuplicates(found, defaultNamespace);
  const labels = { [environmentLabel]: context.job.environmentId };
  const objects = found.map((object): WantedObject => {
    const identity = identityOf(object, defaultNamespace);
    const key = keyOf(identity);
    return {
      object: withLabels(placed(object, defaultNamespace), labels, managerLabels),
      namespace: identity.namespace,
      identity,
      key,
      recorded: appliedObject(recorded.get(key)),
      isSettled: recorded.get(key)?.mayDiffer !== true,
    };
  });
  const keys = new Set(objects.map(({ key }) => key));
  const deletions = [...recorded].flatMap(([key, entry]) => (keys.has(key) ? [] : [entry]));
  return { variables, defaultNamespace, record, objects, deletions };
}

/** Namespaces, and definitions of kinds: other objects need them. */
export function isBasis(object: KubernetesObject): boolean {
  return isNamespace(object) || isDefinition(object);
}

/** The environment's namespace, if the run is to make it and no manifest does. */
function namespaceToMake({ variables, defaultNamespace, objects }: RunManifests): string | null {
  if (!variables.createsNamespace) return null;
  const isDeclared = objects.some(
    ({ object }) => isNamespace(object) && object.metadata.name === defaultNamespace,
  );
  return isDeclared ? null : defaultNamespace;
}

/** Kinds that a plan looks up first: objects that other objects need. */
export function basisOf(wanted: RunManifests): KubernetesObject[] {
  const namespace = namespaceToMake(wanted);
  return [
    ...wanted.objects.map(({ object }) => object).filter(isBasis),
    ...(namespace === null ? [] : [namespaceObject(namespace)]),
  ];
}

/** Missing parts of the basis, and the objects that therefore cannot be compared. */
export interface Missing {
  /** The namespace that the run makes; null: none. */
  readonly namespaceToCreate: string | null;
  /** Whether an object is in a namespace, or of a kind, that does not exist yet. */
  isNew(object: WantedObject): boolean;
  /** Whether the kind of an object does not exist yet. */
  isOfNewKind(object: WantedObject): boolean;
}

function kindOfDefinition(definition: KubernetesObject): string {
  const { group, names } = recordOf(definition['spec']);
  return `${String(group)}/${String(recordOf(names)['kind'])}`;
}

function servedVersions(definition: KubernetesObject): string[] {
  const { group, versions } = recordOf(definition['spec']);
  const served = (Array.isArray(versions) ? versions : [])
    .map(recordOf)
    .filter(({ served: is }) => is === true);
  return served.map(({ name }) => `${String(group)}/${String(name)}`);
}

/** @throws Error that names an object in a version that the definition of its kind does not serve */
function refuseUnserved({ objects }: RunManifests, definitions: ReadonlyMap<string, KubernetesObject>): void {
  for (const { identity, object } of objects) {
    const definition = definitions.get(`${groupOf(object)}/${object.kind}`);
    if (definition === undefined) continue;
    const served = servedVersions(definition);
    if (!served.includes(object.apiVersion))
      throw new Error(
        `${addressOf(identity)}: its definition ${definition.metadata.name} in these manifests serves ` +
          `${served.length === 0 ? 'no version' : `only ${served.join(', ')}`}: correct apiVersion`,
      );
  }
}

/** @throws Error that names an object in a version that the definition of its kind does not serve */
export function missingOf(wanted: RunManifests, captures: PhaseCaptures): Missing {
  const there = parseJsonObjects(captures.get(captured.basis));
  const keys = new Set(there.map((object) => keyOf(identityOf(object, ''))));
  const isThere = (object: KubernetesObject) => keys.has(keyOf(identityOf(object, '')));
  const missing = basisOf(wanted).filter((object) => !isThere(object));
  const namespaces = new Set(missing.filter(isNamespace).map(({ metadata }) => metadata.name));
  const definitions = missing.filter(isDefinition);
  const kinds = new Map(definitions.map((definition) => [kindOfDefinition(definition), definition]));
  refuseUnserved(wanted, kinds);
  const isOfNewKind = ({ object }: WantedObject) => kinds.has(`${groupOf(object)}/${object.kind}`);
  const made = namespaceToMake(wanted);
  return {
    namespaceToCreate: made !== null && namespaces.has(made) ? made : null,
    isOfNewKind,
    isNew: (object) => namespaces.has(object.identity.namespace) || isOfNewKind(object),
  };
}

/** The environment that an object says it belongs to. */
export function environmentOf(object: KubernetesObject): unknown {
  return labelOf(object, environmentLabel);
}
