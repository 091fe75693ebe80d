/** Rendering of a chart: objects and hooks, and the comparison of two renderings. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord, recordOf } from '#contract/schema/is-record.ts';
import { addressOf, identityOf, type KubernetesObject, parseObjects } from '../cluster/objects.ts';

export interface Rendering {
  /** Empty if helm did not say so. */
  readonly chart: string;
  readonly chartVersion: string;
  /** Versions of the charts that it needs, by name. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** Of the release; null: unknown. */
  readonly namespace: string | null;
  readonly objects: readonly KubernetesObject[];
  readonly hooks: readonly KubernetesObject[];
}

interface ShownRelease {
  readonly namespace?: string;
  readonly manifest?: string;
  readonly hooks?: readonly { readonly manifest?: string }[];
  readonly chart?: {
    readonly metadata?: { readonly name?: string; readonly version?: string };
    readonly lock?: {
      readonly dependencies?: readonly { readonly name: string; readonly version: string }[];
    } | null;
  };
}

export const hookAnnotation = 'helm.sh/hook';

function isHook({ metadata }: KubernetesObject): boolean {
  return recordOf(metadata['annotations'])[hookAnnotation] !== undefined;
}

const what = 'the rendered manifests';

/** @param captured what `helm upgrade --dry-run=server -o json` printed */
export function readRelease(captured: Uint8Array): Rendering {
  let release: ShownRelease;
  try {
    release = JSON.parse(Buffer.from(captured).toString()) as ShownRelease;
  } catch {
    // A parser's message may contain values.
    throw new Error('helm did not print the rendered release as JSON');
  }
  const { name = '', version = '' } = release.chart?.metadata ?? {};
  const locked = release.chart?.lock?.dependencies ?? [];
  return {
    chart: name,
    chartVersion: version,
    dependencies: Object.fromEntries(locked.map((each) => [each.name, each.version])),
    namespace: release.namespace ?? null,
    objects: parseObjects(release.manifest ?? '', what),
    hooks: (release.hooks ?? []).flatMap(({ manifest = '' }) => parseObjects(manifest, what)),
  };
}

/** @param captured what `helm template` printed: hooks are among the objects */
export function readTemplates(captured: Uint8Array): Rendering {
  const all = parseObjects(captured, what);
  return {
    chart: '',
    chartVersion: '',
    dependencies: {},
    namespace: null,
    objects: all.filter((object) => !isHook(object)),
    hooks: all.filter(isHook),
  };
}

/** Action and time of one hook, for people. */
export function hookInWords(hook: KubernetesObject, namespace: string): string {
  return `${String(recordOf(hook.metadata['annotations'])[hookAnnotation])}: ${addressOf(identityOf(hook, namespace))}`;
}

/** Objects and hooks by address. */
export type Rendered = Readonly<Record<string, unknown>>;

export function renderedOf(
  { objects, hooks }: Pick<Rendering, 'objects' | 'hooks'>,
  namespace: string,
): Rendered {
  const found: Record<string, unknown> = Object.create(null);
  for (const object of objects) found[addressOf(identityOf(object, namespace))] = object;
  for (const hook of hooks) found[`hook ${addressOf(identityOf(hook, namespace))}`] = hook;
  return found;
}

/** A place within a rendering: the address of an object and the way to a field. */
export type RenderingPath = readonly (string | number)[];

/** Places at which two renderings differ; the outermost where only one has anything. */
export function differingPlaces(one: unknown, other: unknown, place: RenderingPath = []): RenderingPath[] {
  if (isDeepStrictEqual(one, other)) return [];
  if (isRecord(one) && isRecord(other))
    return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((key) =>
      differingPlaces(one[key], other[key], [...place, key]),
    );
  if (Array.isArray(one) && Array.isArray(other) && one.length === other.length)
    return one.flatMap((value, index) => differingPlaces(value, other[index], [...place, index]));
  return [place];
}

function isWithin(place: RenderingPath, outer: RenderingPath): boolean {
  return outer.every((part, index) => place[index] === part);
}

/** An address without the name of its object. */
function kindOf([address = '']: RenderingPath): string {
  return String(address).replace(/\/[^/]*$/, '');
}

/**
 * Places at which a rendering differs from the approved one.
 * @param unstable places at which two renderings of the same plan differed: these say nothing
 */
export function changedPlaces(
  approved: Rendered,
  rendered: Rendered,
  unstable: readonly RenderingPath[],
): RenderingPath[] {
  // Objects with random names differ as wholes; the next rendering names them otherwise.
  const kinds = new Set(unstable.filter(({ length }) => length === 1).map(kindOf));
  return differingPlaces(approved, rendered).filter(
    (place) =>
      !unstable.some((outer) => isWithin(place, outer)) && !(place.length === 1 && kinds.has(kindOf(place))),
  );
}

/** A place for people: the object, and in parentheses the field. */
export function placeInWords([address = '', ...field]: RenderingPath): string {
  return field.length === 0 ? String(address) : `${address} (${field.join('.')})`;
}
