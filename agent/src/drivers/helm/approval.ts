/** Approved content of a plan: the rendered chart, and the revision that it comes after. */
import { parseExactly } from '#contract/schema/exact-json.ts';
import {
  changedPlaces,
  differingPlaces,
  placeInWords,
  type Rendered,
  type Rendering,
  type RenderingPath,
  renderedOf,
} from './rendering.ts';

interface ApprovedRelease {
  readonly chart: string;
  readonly version: string;
  /** The newest revision when it was planned. */
  readonly newest: number;
  readonly rendered: Rendered;
  readonly unstable: readonly RenderingPath[];
}

/** Named in full; of more, their number. */
const mostNamed = 5;

function listed(texts: readonly string[]): string {
  const found = [...new Set(texts)];
  const more = found.length > mostNamed ? ` and ${found.length - mostNamed} more` : '';
  return `${found.slice(0, mostNamed).join(', ')}${more}`;
}

/** Differences between two renderings of one plan: templates with random or current values. */
export function unstablePlaces(first: Rendering, second: Rendering, namespace: string): RenderingPath[] {
  return differingPlaces(renderedOf(first, namespace), renderedOf(second, namespace));
}

type PlannedRelease =
  | {
      readonly newest: number;
      readonly rendering: Rendering;
      readonly unstable: readonly RenderingPath[];
      readonly namespace: string;
    }
  /** Of a destroy: addresses of what it deletes. */
  | { readonly newest: number; readonly rendered: Rendered };

/** The approved file. */
export function composeApproval(planned: PlannedRelease): Uint8Array {
  const approved: ApprovedRelease =
    'rendered' in planned
      ? { chart: '', version: '', unstable: [], ...planned }
      : {
          chart: planned.rendering.chart,
          version: planned.rendering.chartVersion,
          newest: planned.newest,
          rendered: renderedOf(planned.rendering, planned.namespace),
          unstable: planned.unstable,
        };
  return Buffer.from(JSON.stringify(approved));
}

function readApproved(bytes: Uint8Array | undefined): ApprovedRelease {
  if (bytes === undefined) throw new Error('the approved plan is missing');
  return parseExactly(Buffer.from(bytes).toString()) as ApprovedRelease;
}

/** @returns what is otherwise than it was approved, as a part of a sentence; null: nothing */
export function approvalDifference(
  bytes: Uint8Array | undefined,
  now: { readonly newest: number; readonly rendering: Rendering; readonly namespace: string },
): string | null {
  const approved = readApproved(bytes);
  if (approved.newest !== now.newest)
    return `the release is at revision ${now.newest} and was at ${approved.newest}`;
  const places = changedPlaces(
    approved.rendered,
    renderedOf(now.rendering, now.namespace),
    approved.unstable,
  );
  return places.length === 0 ? null : `the chart renders otherwise: ${listed(places.map(placeInWords))}`;
}

/** @returns what a destroy would delete beyond what was approved, as a part of a sentence; null: nothing */
export function destroyDifference(
  bytes: Uint8Array | undefined,
  addresses: readonly string[],
): string | null {
  const { rendered } = readApproved(bytes);
  const beyond = addresses.filter((address) => !Object.hasOwn(rendered, address));
  return beyond.length === 0 ? null : `the release has more objects: ${listed(beyond)}`;
}
