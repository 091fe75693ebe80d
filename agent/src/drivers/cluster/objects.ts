/** Objects of Kubernetes: how they are read from manifests, and what identifies them. */

import { Composer, type Document, Lexer, LineCounter, Parser, Schema } from 'yaml';
import { parseExactly, withNumbers } from '#contract/schema/exact-json.ts';
import { isRecord, recordOf } from '#contract/schema/is-record.ts';
import { kubernetesTags } from './yaml-tags.ts';

export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** Name of one object in a cluster. */
export interface ObjectIdentity {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for an object of the whole cluster. */
  readonly namespace: string;
  readonly name: string;
}

/** More is neither read nor shown. */
const mostBytes = 32_000_000;
/** Of one document: no cluster takes an object with more, and each costs a thousand bytes while it is read. */
const mostTokens = 1_000_000;
/** Or else a text of a few lines expands to a billion values. */
const mostAliases = 100;

/** Built-in kinds that are in no namespace; those of others are known by their definitions. */
const clusterKinds: Readonly<Record<string, readonly string[]>> = {
  '': ['Namespace', 'Node', 'PersistentVolume', 'ComponentStatus'],
  'admissionregistration.k8s.io': [
    'MutatingAdmissionPolicy',
    'MutatingAdmissionPolicyBinding',
    'MutatingWebhookConfiguration',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'ValidatingWebhookConfiguration',
  ],
  'apiextensions.k8s.io': ['CustomResourceDefinition'],
  'apiregistration.k8s.io': ['APIService'],
  'certificates.k8s.io': ['CertificateSigningRequest', 'ClusterTrustBundle'],
  'flowcontrol.apiserver.k8s.io': ['FlowSchema', 'PriorityLevelConfiguration'],
  'networking.k8s.io': ['IngressClass', 'IPAddress', 'ServiceCIDR'],
  'node.k8s.io': ['RuntimeClass'],
  policy: ['PodSecurityPolicy'],
  'rbac.authorization.k8s.io': ['ClusterRole', 'ClusterRoleBinding'],
  'resource.k8s.io': ['DeviceClass', 'ResourceSlice'],
  'scheduling.k8s.io': ['PriorityClass'],
  'storage.k8s.io': ['CSIDriver', 'CSINode', 'StorageClass', 'VolumeAttachment', 'VolumeAttributesClass'],
};

/** Groups of Kubernetes itself that have no kinds of the whole cluster. */
const otherGroups = [
  'apps',
  'autoscaling',
  'batch',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'extensions',
];

/** The group of an `apiVersion`; empty for the core. */
export function groupOf({ apiVersion }: Pick<ObjectIdentity, 'apiVersion'>): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
}

/** Whether a kind of Kubernetes itself is in no namespace. */
export function isOfCluster(object: Pick<ObjectIdentity, 'apiVersion' | 'kind'>): boolean {
  const kinds = clusterKinds[groupOf(object)];
  return kinds?.includes(object.kind) === true;
}

/** Whether a kind is of Kubernetes itself: every cluster knows it. */
export function isBuiltIn(object: Pick<ObjectIdentity, 'apiVersion'>): boolean {
  const group = groupOf(object);
  return Object.hasOwn(clusterKinds, group) || otherGroups.includes(group);
}

export function isNamespace(object: Pick<ObjectIdentity, 'apiVersion' | 'kind'>): boolean {
  return object.kind === 'Namespace' && groupOf(object) === '';
}

export function isDefinition(object: Pick<ObjectIdentity, 'apiVersion' | 'kind'>): boolean {
  return object.kind === 'CustomResourceDefinition' && groupOf(object) === 'apiextensions.k8s.io';
}

/**
 * @param defaultNamespace where an object without a namespace is; of kinds that others have defined for the whole
 * cluster, the identity names it too
 */
export function identityOf(object: KubernetesObject, defaultNamespace: string): ObjectIdentity {
  const { apiVersion, kind, metadata } = object;
  const namespace = isOfCluster(object) ? '' : (metadata.namespace ?? defaultNamespace);
  return { apiVersion, kind, namespace, name: metadata.name };
}

/** `apps/v1/Deployment/shop/web`; of an object of the whole cluster without the namespace. */
export function addressOf({ apiVersion, kind, namespace, name }: ObjectIdentity): string {
  return [apiVersion, kind, ...(namespace === '' ? [] : [namespace]), name].join('/');
}

/** Equal for the same object, in whatever version of its group it is written. */
export function keyOf(identity: ObjectIdentity): string {
  const { kind, namespace, name } = identity;
  return [groupOf(identity), kind, namespace, name].join('/');
}

/** One for all documents: making it takes longer than reading most of them. */
const schema = new Schema({ schema: 'yaml-1.1', customTags: kubernetesTags });

/** A text for the place of a document, where the reader of an error looks. */
function placeOf(what: string, number: number, line?: number): string {
  return `${what}, document ${number}${line === undefined ? '' : `, line ${line}`}`;
}

/** One document after the other: what the reader knows of one is many times larger than its value. */
function* documentsOf(text: string, what: string, lines: LineCounter): Generator<Document> {
  const parser = new Parser(lines.addNewLine);
  // As the tools do, of keys that are there twice the last one counts.
  const options = { version: '1.1', schema, intAsBigInt: true, uniqueKeys: false } as const;
  const composer = new Composer(options);
  lines.addNewLine(0);
  let tokens = 0;
  let number = 1;
  for (const lexeme of new Lexer().lex(text)) {
    if ((tokens += 1) > mostTokens)
      throw new Error(`${placeOf(what, number)} has too many values to be one object of a cluster`);
    for (const token of parser.next(lexeme)) {
      if (token.type === 'document') {
        number += 1;
        tokens = 0;
      }
      yield* composer.next(token);
    }
  }
  for (const token of parser.end()) yield* composer.next(token);
  yield* composer.end();
}

function valueOf(document: Document, what: string, number: number, lines: LineCounter): unknown {
  const [error] = document.errors;
  if (error !== undefined)
    throw new Error(`${placeOf(what, number, lines.linePos(error.pos[0]).line)}: ${error.message}`);
  try {
    return withNumbers(document.toJS({ maxAliasCount: mostAliases }));
  } catch (error) {
    throw new Error(`${placeOf(what, number)}: ${(error as Error).message}`, { cause: error });
  }
}

/** Whether a value has what every object has. @param place begins the message of an error */
function requireObject(value: unknown, place: string): KubernetesObject {
  if (!isRecord(value)) throw new Error(`${place} is not an object: it needs apiVersion, kind and metadata`);
  for (const field of ['apiVersion', 'kind'])
    if (typeof value[field] !== 'string' || value[field] === '')
      throw new Error(`${place} has no ${field}: every object needs apiVersion, kind and metadata.name`);
  const { name, generateName, namespace } = recordOf(value['metadata']);
  if (typeof name !== 'string' || name === '')
    throw new Error(
      generateName === undefined
        ? `${place}: ${String(value['kind'])} has no metadata.name`
        : `${place}: ${String(value['kind'])} has generateName, which makes another object each time: give it a name`,
    );
  if (namespace !== undefined && namespace !== null && typeof namespace !== 'string')
    throw new Error(`${place}: ${String(value['kind'])} ${name} has a metadata.namespace that is not a text`);
  return value as unknown as KubernetesObject;
}

/** Objects of a list: of any kind, or of the one that the list is for, which they need not repeat. */
function expand(value: unknown, place: string): KubernetesObject[] {
  if (!isRecord(value)) return [requireObject(value, place)];
  const { apiVersion, kind, items = [] } = value as Readonly<Record<string, unknown>>;
  const isGeneral = kind === 'List' && apiVersion === 'v1';
  const isTyped = typeof kind === 'string' && /.List$/.test(kind) && value['items'] !== undefined;
  if (!isGeneral && !isTyped) return [requireObject(value, place)];
  if (!Array.isArray(items)) throw new Error(`${place}: the items of a List must be a list`);
  const usual = isTyped ? { apiVersion, kind: kind.replace(/List$/, '') } : {};
  return items.flatMap((item: unknown, index) => {
    const isBare = isRecord(item) && item['kind'] === undefined && item['apiVersion'] === undefined;
    return expand(isBare ? { ...usual, ...item } : item, `${place}, items[${index}]`);
  });
}

/**
 * Reads manifests: documents of YAML or JSON, lists expanded.
 * @param what names the text in messages, such as "the rendered manifests"
 * @throws an Error that says which document, and where it is known which line
 */
export function parseObjects(bytes: Uint8Array | string, what: string): KubernetesObject[] {
  if (bytes.length > mostBytes)
    throw new Error(
      `${what} have ${Math.floor(bytes.length / 1e6)} MB, and at most ${mostBytes / 1e6} MB are read: ` +
        'divide the configuration into several environments',
    );
  const text = typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString();
  const lines = new LineCounter();
  const found: KubernetesObject[] = [];
  let number = 0;
  for (const document of documentsOf(text, what, lines)) {
    const value = valueOf(document, what, (number += 1), lines);
    if (value === null || value === undefined) continue;
    for (const object of expand(value, placeOf(what, number))) found.push(object);
  }
  return found;
}

/** Reads what kubectl prints with `-o json`: one object or a list, or nothing. */
export function parseJsonObjects(bytes: Uint8Array | undefined): KubernetesObject[] {
  const text = Buffer.from(bytes ?? [])
    .toString()
    .trim();
  return text === '' ? [] : expand(parseExactly(text), 'the output of kubectl');
}

/** @throws an Error that names an object that is there twice */
export function refuseDuplicates(objects: readonly KubernetesObject[], defaultNamespace: string): void {
  const seen = new Set<string>();
  for (const object of objects) {
    const identity = identityOf(object, defaultNamespace);
    const key = keyOf(identity);
    if (seen.has(key))
      throw new Error(`${addressOf(identity)} is declared twice: remove or rename one of the two`);
    seen.add(key);
  }
}

/** Standard input of kubectl; null: there is nothing to send. */
export function inputOf(objects: readonly KubernetesObject[]): string | null {
  return objects.length === 0 ? null : JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
}

/** Adds labels to an object. @param usual only where the object has none of that name */
export function withLabels(
  object: KubernetesObject,
  always: Readonly<Record<string, string>>,
  usual: Readonly<Record<string, string>> = {},
): KubernetesObject {
  const labels = { ...usual, ...recordOf(object.metadata['labels']), ...always };
  return { ...object, metadata: { ...object.metadata, labels } };
}

/** The label of an object; undefined where it has none of that name. */
export function labelOf({ metadata }: KubernetesObject, name: string): unknown {
  return recordOf(metadata['labels'])[name];
}
