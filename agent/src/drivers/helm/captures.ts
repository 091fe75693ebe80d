/** Captures of the commands of a phase, as the plan and the apply read them. */

import { isNamespace, type KubernetesObject, parseJsonObjects, parseObjects } from '../cluster/objects.ts';
import type { PhaseCaptures } from '../interface/command.ts';
import type { DriverContext } from '../interface/driver.ts';
import { namespaceOf } from './release.ts';
import { type History, isKept, isStrange, objectKey, readHistory, without } from './releases.ts';
import { type Rendering, readRelease, readTemplates } from './rendering.ts';

/** Names of captured outputs. */
export const captured = {
  namespace: 'namespace.json',
  definitions: 'definitions.yaml',
  revisions: 'revisions.json',
  rendered: 'rendered.json',
  templates: 'rendered.yaml',
  live: 'live.json',
  created: 'created.yaml',
  replaced: 'replaced.yaml',
  refused: 'refused.txt',
  upgraded: 'upgraded.json',
  status: 'status.json',
  metadata: 'metadata.json',
} as const;

/** Before the names of what is captured of a second rendering. */
export const again = 'again-';

/** The captured history, read once: it may be large. */
const histories = new WeakMap<Uint8Array, History>();

export function historyOf(captures: PhaseCaptures): History {
  const bytes = captures.get(captured.revisions) ?? new Uint8Array();
  const known = histories.get(bytes) ?? readHistory(bytes);
  histories.set(bytes, known);
  return known;
}

const renderings = new WeakMap<Uint8Array, Rendering>();

/** @param prefix `again` for the second of a plan; null if there is none */
export function renderingOf(captures: PhaseCaptures, prefix = ''): Rendering | null {
  const rendered = captures.get(prefix + captured.rendered);
  const templates = captures.get(prefix + captured.templates);
  const bytes = rendered ?? templates;
  if (bytes === undefined) return null;
  const known = renderings.get(bytes) ?? (rendered ? readRelease(rendered) : readTemplates(bytes));
  renderings.set(bytes, known);
  return known;
}

/** @throws Error if helm has rendered nothing */
export function requireRendering(captures: PhaseCaptures): Rendering {
  const rendering = renderingOf(captures);
  if (rendering === null) throw new Error('helm has rendered nothing');
  return rendering;
}

/** The namespace of the release, as far as it is known. */
export function releaseNamespace({ job }: Pick<DriverContext, 'job'>, captures: PhaseCaptures): string {
  return (
    namespaceOf(job) ??
    historyOf(captures).revisions.at(-1)?.namespace ??
    renderingOf(captures)?.namespace ??
    'default'
  );
}

/** Whether the namespace is there; where it is not to be created, it has to be. */
export function hasNamespace(captures: PhaseCaptures): boolean {
  const bytes = captures.get(captured.namespace);
  return bytes === undefined || parseJsonObjects(bytes).length > 0;
}

/** Namespaces that the apply makes: the one of the release, and those that the chart renders. */
export function missingNamespaces(context: DriverContext, captures: PhaseCaptures): ReadonlySet<string> {
  const live = liveObjects(context, captures);
  const namespace = releaseNamespace(context, captures);
  const rendered = requireRendering(captures)
    .objects.filter(isNamespace)
    .filter((object) => !live.has(objectKey(object, namespace)))
    .map(({ metadata }) => metadata.name);
  return new Set(hasNamespace(captures) ? rendered : [...rendered, namespace]);
}

/** Whether the release is installed: only then helm makes the kinds that the chart defines. */
export function isInstallation(captures: PhaseCaptures): boolean {
  const { revisions, unfinished } = historyOf(captures);
  const last = revisions.at(-1 - unfinished.length);
  return last === undefined || last.status === 'uninstalled';
}

/** Kinds that the chart defines, if helm is about to make those that the cluster lacks. */
export function definedKinds(captures: PhaseCaptures): KubernetesObject[] {
  const bytes = captures.get(captured.definitions);
  return bytes === undefined ? [] : parseObjects(bytes, 'the definitions of the chart');
}

/** Whether a destroy leaves the release, because no deployment of the environment has made it. */
export function isLeft({ job }: Pick<DriverContext, 'job'>, captures: PhaseCaptures): boolean {
  return job.type === 'destroy' && isStrange(historyOf(captures), job);
}

/** Objects of the release that its next revision has no more. */
export function goneObjects(context: DriverContext, captures: PhaseCaptures): KubernetesObject[] {
  const { base, others } = historyOf(captures);
  if (isLeft(context, captures)) return [];
  const namespace = releaseNamespace(context, captures);
  const rendered = renderingOf(captures)?.objects ?? [];
  return without([...others, ...(base?.objects ?? [])], rendered, namespace);
}

/** Objects that helm itself will not find: of revisions that were never finished, or failed. */
export function forgottenObjects(context: DriverContext, captures: PhaseCaptures): KubernetesObject[] {
  const { revisions, base, others } = historyOf(captures);
  if (isLeft(context, captures)) return [];
  const namespace = releaseNamespace(context, captures);
  const isDestroy = context.job.type === 'destroy';
  const all = isDestroy ? [...(base?.objects ?? []), ...others] : others;
  const found = isDestroy ? (revisions.at(-1)?.objects ?? []) : (base?.objects ?? []);
  const rendered = renderingOf(captures)?.objects ?? [];
  return without(all, [...found, ...rendered], namespace).filter((object) => !isKept(object));
}

/** Objects by key, as they are in the cluster. */
export function liveObjects(context: DriverContext, captures: PhaseCaptures): Map<string, KubernetesObject> {
  const namespace = releaseNamespace(context, captures);
  const objects = parseJsonObjects(captures.get(captured.live));
  return new Map(objects.map((object) => [objectKey(object, namespace), object]));
}
