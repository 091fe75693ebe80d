/**
 * Differences between two state files, by address. Pure: files and secrets in, differences with masked
 * values out. Of large files, only what differs is read as a whole.
 */

import { isDeepStrictEqual } from 'node:util';
import { ExactNumber, numberText } from '#contract/schema/exact-json.ts';
import { isRecord } from '#contract/schema/is-record.ts';
import type { StateComparison } from '#contract/state/shapes.ts';
import { sensitiveMask } from '../../../ground/secrets/sensitive-mask.ts';
import type { StateExcerpt } from './state-excerpt.ts';
import {
  exactly,
  type FoundInstance,
  type InstanceContent,
  instancesOf,
  outputsOf,
} from './state-instances.ts';

type AttributeChange = StateComparison['resources'][number]['attributes'][number];
type ResourceDifference = StateComparison['resources'][number];

interface OutputEntry {
  readonly value?: unknown;
  readonly type?: unknown;
  readonly sensitive?: boolean;
}

/** Names that a state chooses itself, which may be those that every object has. */
function ownOf<T>(values: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return values && Object.hasOwn(values, name) ? values[name] : undefined;
}

/**
 * The value with the places below a path replaced; where the path leads nowhere, the nearest value above is,
 * to be safe.
 */
function maskPath(value: unknown, [step, ...rest]: readonly (string | number)[]): unknown {
  if (value === null || value === undefined) return value;
  if (step === undefined || typeof value !== 'object' || value instanceof ExactNumber) return sensitiveMask;
  if (Array.isArray(value)) {
    const index = Number(step);
    // A step into a set names no place: all of it is hidden.
    return Number.isInteger(index) && index < value.length
      ? value.with(index, maskPath(value[index], rest))
      : sensitiveMask;
  }
  return Object.hasOwn(value, step)
    ? { ...value, [step]: maskPath((value as Record<string, unknown>)[step], rest) }
    : value;
}

/** The forms of secrets inside a text: plain, and JSON-encoded. */
function compileSecrets(secrets: readonly string[]): (text: string) => string {
  const forms = new Set(secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]));
  const longestFirst = [...forms].sort((one, other) => other.length - one.length);
  return (text) => longestFirst.reduce((masked, form) => masked.replaceAll(form, sensitiveMask), text);
}

function maskTexts(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  const digits = numberText(value);
  if (digits !== null) return mask(digits) === digits ? value : sensitiveMask;
  if (Array.isArray(value)) return value.map((each) => maskTexts(each, mask));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [mask(key), maskTexts(each, mask)]));
}

interface ComparedValues {
  readonly before?: unknown;
  readonly after?: unknown;
}

function sidesOf(before: unknown, after: unknown): ComparedValues {
  return { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

const nothing: InstanceContent = { attributes: {}, sensitivePaths: [] };

function contentOf(instance: FoundInstance | undefined): InstanceContent {
  return instance?.contentOf(instance.bytes) ?? nothing;
}

function attributeChanges(
  before: FoundInstance | undefined,
  after: FoundInstance | undefined,
  mask: (text: string) => string,
): AttributeChange[] {
  const [one, other] = [contentOf(before), contentOf(after)];
  const paths = [...one.sensitivePaths, ...other.sensitivePaths];
  const names = [...new Set([...Object.keys(one.attributes), ...Object.keys(other.attributes)])].sort();
  return names.flatMap((name) => {
    const [left, right] = [ownOf(one.attributes, name), ownOf(other.attributes, name)];
    if (isDeepStrictEqual(left, right)) return [];
    const own = paths.filter(([first]) => first === name).map((path) => path.slice(1));
    const shown = (value: unknown) => maskTexts(own.reduce(maskPath, value), mask);
    return [{ name, isSensitive: own.length > 0, ...sidesOf(shown(left), shown(right)) }];
  });
}

function differenceOf(
  before: FoundInstance | undefined,
  after: FoundInstance | undefined,
  mask: (text: string) => string,
): ResourceDifference | null {
  const { address, resource } = (after ?? before) as FoundInstance;
  const attributes = attributeChanges(before, after, mask);
  if (before && after && attributes.length === 0) return null;
  const change = before ? (after ? 'changed' : 'removed') : 'added';
  return {
    address: mask(address),
    change,
    mode: resource.mode === 'data' ? 'data' : 'managed',
    type: resource.type ?? '',
    name: resource.name ?? '',
    ...(resource.module ? { moduleName: resource.module } : {}),
    ...(resource.provider ? { provider: resource.provider } : {}),
    attributes,
  };
}

function outputDifferences(
  left: ReadonlyMap<string, Uint8Array>,
  right: StateExcerpt['outputs'],
  mask: (text: string) => string,
): StateComparison['outputs'] {
  const names = [...new Set([...left.keys(), ...right.keys()])].sort();
  return names.flatMap((name) => {
    const [old, current] = [left.get(name), right.get(name)];
    if (current === null) return [];
    const [one, other] = [old && exactly<OutputEntry>(old), current && exactly<OutputEntry>(current)];
    if (
      one &&
      other &&
      isDeepStrictEqual(one.value, other.value) &&
      (one.sensitive ?? false) === (other.sensitive ?? false)
    )
      return [];
    const isSensitive = (one?.sensitive ?? false) || (other?.sensitive ?? false);
    const shown = (value: unknown) => (isSensitive ? sensitiveMask : maskTexts(value, mask));
    const change = one ? (other ? 'changed' : 'removed') : 'added';
    return [
      {
        name,
        change,
        isSensitive,
        ...sidesOf(one && shown(one.value), other && shown(other.value)),
      } as const,
    ];
  });
}

export type Differences = Pick<StateComparison, 'resources' | 'outputs' | 'unchangedResourceCount'>;

/**
 * @param before a state that is not encrypted, as a file
 * @param after what another one has differently
 * @param secrets values that no reader may see, wherever they are
 * @param most characters of the differences as JSON text, above which the rest is not compared
 * @returns what leads from `before` to `after`, resources and outputs by name; those without a difference are
 * only counted; null above `most`
 */
export function compareStates(
  before: Uint8Array,
  after: StateExcerpt,
  secrets: readonly string[],
  most: number,
): Differences | null {
  const mask = compileSecrets(secrets);
  const [left, right] = [instancesOf(before), after.instances];
  const addresses = [...new Set([...left.keys(), ...right.keys()])].sort();
  const resources: ResourceDifference[] = [];
  let characters = 0;
  for (const address of addresses) {
    const [one, other] = [left.get(address), right.get(address)];
    const difference = other === null ? null : differenceOf(one, other, mask);
    if (difference === null) continue;
    resources.push(difference);
    characters += JSON.stringify(difference).length;
    if (characters > most) return null;
  }
  return {
    resources,
    outputs: outputDifferences(outputsOf(before), after.outputs, mask),
    unchangedResourceCount: addresses.length - resources.length,
  };
}
