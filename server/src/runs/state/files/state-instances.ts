/** The instances of a state file, in the formats of all tools. Only what differs is read as a whole. */
import { parseExactly } from '#contract/schema/exact-json.ts';
import { isRecord } from '#contract/schema/is-record.ts';
import { type ByteRange, outlineJson } from '#guards/json-bytes.ts';
import { hasSecret, isManagedType } from '#protocol/tools/pulumi/state.ts';
import { recordFormat } from '#protocol/tools/states/kubernetes-record.ts';
import { areUnitStates, readUnitStates } from '#protocol/tools/terragrunt-state.ts';

interface Instance {
  readonly index_key?: string | number;
  readonly deposed?: string;
  readonly attributes?: Record<string, unknown>;
  readonly attributes_flat?: Record<string, unknown>;
  readonly sensitive_attributes?: unknown;
}

export interface RecordedResource {
  readonly mode?: string;
  readonly type?: string;
  readonly name?: string;
  readonly module?: string;
  readonly provider?: string;
}

/** The value of a part of the file, with numbers as they were written. */
export function exactly<Value>(bytes: Uint8Array): Value {
  return parseExactly(decode(bytes)) as Value;
}

/** Fields read of an instance that differs from its other version. */
export interface InstanceContent {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly sensitivePaths: readonly (string | number)[][];
}

/** One instance of a resource in a state. */
export interface FoundInstance {
  readonly address: string;
  readonly resource: RecordedResource;
  readonly bytes: Uint8Array;
  /** Reads its bytes, or a copy of them. */
  readonly contentOf: (bytes: Uint8Array) => InstanceContent;
}

/** A value that an outline has left where it is. */
interface OutlinePart {
  readonly part?: number;
}

export type Below = (left: OutlinePart | null) => Uint8Array | null;

const decoder = new TextDecoder();

function decode(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** The upper levels of a text, and the bytes of what is below them. */
export function open<Value>(bytes: Uint8Array, levels = 2): { value: Value; below: Below } {
  const { value, parts } = outlineJson(bytes, { levels, decode, checksParts: false });
  const below = (left: OutlinePart | null) => {
    const place: ByteRange | undefined = left?.part === undefined ? undefined : parts[left.part];
    return place === undefined ? null : bytes.subarray(place.start, place.end);
  };
  return { value: value as Value, below };
}

export interface StateFile {
  readonly format?: unknown;
  readonly objects?: readonly OutlinePart[];
  readonly resources?: readonly OutlinePart[];
  readonly outputs?: Readonly<Record<string, OutlinePart>>;
  readonly encrypted_data?: unknown;
  /** Of a stack of Pulumi. */
  readonly deployment?: unknown;
}

function addressOf(resource: RecordedResource, instance: Instance): string {
  const key = instance.index_key === undefined ? '' : `[${JSON.stringify(instance.index_key)}]`;
  const deposed = instance.deposed === undefined ? '' : ` (deposed ${instance.deposed})`;
  const module = resource.module ? `${resource.module}.` : '';
  return `${module}${resource.mode === 'data' ? 'data.' : ''}${resource.type}.${resource.name}${key}${deposed}`;
}

/** Steps as terraform writes them: `{type: get_attr, value: name}` and `{type: index, value: {value: …}}`. */
function pathOf(steps: unknown): (string | number)[] {
  if (!Array.isArray(steps)) return [];
  return steps.map((step: { value?: unknown } | null) => {
    const value = step?.value;
    return (isRecord(value) ? value['value'] : value) as string | number;
  });
}

/** The bytes of all objects that a list has. */
function objectsOf(list: readonly OutlinePart[] | undefined, below: Below): Uint8Array[] {
  return Array.isArray(list) ? list.flatMap((left: OutlinePart | null) => below(left) ?? []) : [];
}

function contentOf(bytes: Uint8Array): InstanceContent {
  const { attributes, attributes_flat, sensitive_attributes } = exactly<Instance>(bytes);
  const paths = Array.isArray(sensitive_attributes) ? sensitive_attributes.map(pathOf) : [];
  return {
    attributes: attributes ?? attributes_flat ?? {},
    sensitivePaths: paths.filter((path) => path.length > 0),
  };
}

interface KubernetesRecord {
  readonly namespace?: string;
  readonly object?: {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly metadata?: { readonly name?: string; readonly namespace?: string };
  };
}

function recordedContent(bytes: Uint8Array): InstanceContent {
  const { object = {} } = exactly<KubernetesRecord>(bytes);
  return {
    attributes: { ...object },
    sensitivePaths: object.kind === 'Secret' ? [['data'], ['stringData']] : [],
  };
}

/** An object of the record of what was applied to a cluster. */
function recordedObject(bytes: Uint8Array): FoundInstance {
  const { namespace = '', object = {} } = exactly<KubernetesRecord>(bytes);
  const type = `${object.apiVersion}/${object.kind}`;
  const name = object.metadata?.name ?? '';
  const place = object.metadata?.namespace ?? namespace;
  return {
    address: [type, ...(place === '' ? [] : [place]), name].join('/'),
    resource: { type, name, provider: 'kubernetes', ...(place === '' ? {} : { module: place }) },
    bytes,
    contentOf: recordedContent,
  };
}

interface PulumiResource {
  readonly urn?: string;
  readonly type?: string;
  readonly id?: string;
  readonly delete?: boolean;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
}

function stackContent(bytes: Uint8Array): InstanceContent {
  const { id, inputs, outputs } = exactly<PulumiResource>(bytes);
  const attributes = { ...(id === undefined ? {} : { id }), ...inputs, ...outputs };
  const secrets = Object.entries(attributes).filter(([, value]) => hasSecret(value));
  return { attributes, sensitivePaths: secrets.map(([name]) => [name]) };
}

/** The resources of a stack of Pulumi, the stack itself and the settings of its providers among them. */
function stackResources(state: Uint8Array): { resource: PulumiResource; bytes: Uint8Array }[] {
  // The file, its deployment, the resources.
  const { value, below } = open<{ deployment?: { resources?: readonly OutlinePart[] } }>(state, 3);
  return objectsOf(value.deployment?.resources, below).map((bytes) => ({
    resource: exactly<PulumiResource>(bytes),
    bytes,
  }));
}

function stackInstances(state: Uint8Array): FoundInstance[] {
  const managed = stackResources(state).filter(({ resource }) => isManagedType(resource.type ?? ''));
  return managed.map(({ resource: { urn = '', type = '', delete: isLeft }, bytes }) => ({
    address: isLeft === true ? `${urn} (to be deleted)` : urn,
    resource: { type, name: urn.split('::').slice(3).join('::'), provider: type.split(':')[0] ?? '' },
    bytes,
    contentOf: stackContent,
  }));
}

function stackOutputs(state: Uint8Array): Map<string, Uint8Array> {
  const stack = stackResources(state).find(({ resource }) => resource.type === 'pulumi:pulumi:Stack');
  return new Map(
    Object.entries(stack?.resource.outputs ?? {}).map(([name, value]) => [
      name,
      Buffer.from(JSON.stringify({ value, sensitive: hasSecret(value) })),
    ]),
  );
}

/** An instance of a unit, named as plans name it. */
function inUnit(
  unit: string,
  { address, resource }: FoundInstance,
): Pick<FoundInstance, 'address' | 'resource'> {
  if (unit === '.') return { address, resource };
  const module = resource.module ? `${unit}/${resource.module}` : unit;
  return { address: `${unit}/${address}`, resource: { ...resource, module } };
}

/** The instances of a state by address, or the objects of a record. */
export function instancesOf(state: Uint8Array): Map<string, FoundInstance> {
  const found = new Map<string, FoundInstance>();
  if (areUnitStates(state)) {
    for (const [unit, bytes] of readUnitStates(state).units)
      for (const each of instancesOf(bytes).values()) {
        const { address, resource } = inUnit(unit, each);
        found.set(address, { ...each, address, resource });
      }
    return found;
  }
  const { value: file, below } = open<StateFile>(state);
  if (file.format === recordFormat.format) {
    for (const each of objectsOf(file.objects, below).map(recordedObject)) found.set(each.address, each);
    return found;
  }
  if (file.deployment !== undefined)
    return new Map(stackInstances(state).map((instance) => [instance.address, instance]));
  for (const bytes of objectsOf(file.resources, below)) {
    const { value: resource, below } = open<RecordedResource & { instances?: readonly OutlinePart[] }>(bytes);
    for (const bytes of objectsOf(resource.instances, below)) {
      const { value: instance } = open<Instance>(bytes);
      const address = addressOf(resource, instance);
      found.set(address, { address, resource, bytes, contentOf });
    }
  }
  return found;
}

/** The bytes of each output, by name. */
export function outputsOf(state: Uint8Array): Map<string, Uint8Array> {
  if (areUnitStates(state))
    return new Map(
      [...readUnitStates(state).units].flatMap(([unit, bytes]) =>
        [...outputsOf(bytes)].map(([name, value]) => [`${unit}.${name}`, value] as const),
      ),
    );
  const { value: file, below } = open<StateFile>(state);
  if (file.deployment !== undefined) return stackOutputs(state);
  const outputs = Object.entries(file.outputs ?? {});
  return new Map(
    outputs.flatMap(([name, left]) => {
      const bytes = below(left);
      return bytes === null ? [] : [[name, bytes] as const];
    }),
  );
}
