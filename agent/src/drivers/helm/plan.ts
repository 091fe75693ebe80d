/** The plan of a release: what happens to its objects, as they are in the cluster. */
import type { ResourceChange } from '#contract/deployments/plan.ts';
import { planReading, type RowOptions, rowOf } from '../cluster/changes.ts';
import type { ObjectPair } from '../cluster/diff.ts';
import { uncheckedInWords } from '../cluster/elsewhere.ts';
import { addressOf, identityOf, type KubernetesObject } from '../cluster/objects.ts';
import type { PhaseCaptures } from '../interface/command.ts';
import type { DriverContext, PlanReading } from '../interface/driver.ts';
import { unstablePlaces } from './approval.ts';
import {
  again,
  definedKinds,
  forgottenObjects,
  goneObjects,
  hasNamespace,
  historyOf,
  isLeft,
  liveObjects,
  releaseNamespace,
  renderingOf,
  requireRendering,
} from './captures.ts';
import { chartDigest } from './chart.ts';
import { repairedPairs, upgradedPairs } from './dry-runs.ts';
import { changedHooks, hookRows, skipsHooks } from './hooks.ts';
import { createdNamespace } from './release.ts';
import {
  isKept,
  isOwned,
  keptAnnotation,
  leftBy,
  objectKey,
  strangeInWords,
  unfinishedInWords,
  withMarks,
  withoutMarks,
} from './releases.ts';
import { hookInWords, placeInWords, type Rendering, type RenderingPath } from './rendering.ts';

interface ReleaseReader {
  readonly context: DriverContext;
  readonly captures: PhaseCaptures;
  readonly options: RowOptions;
  key(object: KubernetesObject): string;
}

function rows(pairs: readonly ObjectPair[], options: RowOptions): ResourceChange[] {
  return pairs.flatMap((pair) => rowOf(pair, options) ?? []);
}

/** Rows that leave out the marks of helm: removing them changes nothing of the release. */
function markedRows(
  { context, options }: Pick<ReleaseReader, 'context' | 'options'>,
  pairs: readonly ObjectPair[],
): ResourceChange[] {
  const marked = (object: KubernetesObject) =>
    withMarks(object, context.job.workspaceName, options.defaultNamespace);
  const shown = pairs.map(({ live, merged }): ObjectPair => {
    if (merged === null) return { live, merged };
    return live === null
      ? { live, merged: withoutMarks(merged) }
      : { live: marked(live), merged: marked(merged) };
  });
  return rows(shown, options);
}

/** Kinds that helm makes because the cluster lacks them. */
function definedPairs({ context, captures, key }: ReleaseReader): ObjectPair[] {
  const live = liveObjects(context, captures);
  return definedKinds(captures)
    .filter((object) => !live.has(key(object)))
    .map((object) => ({ live: null, merged: object }));
}

/** An object that is there, and that the release will have no more. */
interface LostObject {
  readonly live: KubernetesObject;
  /** It stays in the cluster. */
  readonly isKept: boolean;
}

function lostObjects({ context, captures, key }: ReleaseReader): LostObject[] {
  const namespace = releaseNamespace(context, captures);
  const live = liveObjects(context, captures);
  const forgotten = new Set(forgottenObjects(context, captures).map(key));
  return goneObjects(context, captures).flatMap((object) => {
    const found = live.get(key(object));
    if (found === undefined) return [];
    const isOurs = forgotten.has(key(object));
    if (isOurs && !isOwned(found, context.job.workspaceName, namespace)) return [];
    // An uninstallation reads the annotation in the manifest of the release, an upgrade in the cluster.
    return [{ live: found, isKept: isKept(context.job.type === 'destroy' && !isOurs ? object : found) }];
  });
}

/** Rows of what the release will have no more. */
function lossRows(reader: ReleaseReader): ResourceChange[] {
  return lostObjects(reader).flatMap(({ live, isKept }) => {
    const row = rowOf({ live, merged: null }, reader.options);
    if (row === null || !isKept) return row ?? [];
    const { actionReason: _, ...rest } = row;
    return {
      ...rest,
      action: 'metadata' as const,
      kind: 'forget' as const,
      attributes: [],
      actionReason: `${keptAnnotation}: it stays in the cluster and no longer belongs to a release`,
    };
  });
}

function namespaceRow(
  { job }: DriverContext,
  captures: PhaseCaptures,
  options: RowOptions,
): ResourceChange[] {
  const name = createdNamespace(job);
  if (name === undefined || hasNamespace(captures)) return [];
  const namespace: KubernetesObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  return rows([{ live: null, merged: namespace }], options);
}

/** Records of revisions that the apply removes before anything else. */
function recordRows({ context, captures, options }: ReleaseReader): ResourceChange[] {
  if (context.job.type === 'destroy') return [];
  const history = historyOf(captures);
  return history.unfinished.map((each) => {
    const identity = identityOf(each.record, options.defaultNamespace);
    return {
      name: identity.name,
      providerName: 'helm',
      type: 'v1/Secret',
      path: addressOf(identity),
      moduleName: identity.namespace,
      action: 'metadata' as const,
      attributes: [],
      actionReason: `revision ${each.revision} is ${each.status}: ${leftBy(history, each)} was stopped`,
    };
  });
}

/** Whether an apply has something to do although no object changes. */
function isReleaseBehind(captures: PhaseCaptures, { chart, chartVersion }: Rendering): boolean {
  const { revisions, base } = historyOf(captures);
  if (base === null || revisions.at(-1)?.status !== 'deployed') return true;
  return chart !== '' && base.chart !== `${chart} ${chartVersion}`.trim();
}

/** Marks manual changes in the cluster since the last revision. */
function withDrift(reader: ReleaseReader, planned: readonly ResourceChange[]): PlanReading {
  const { captures, context, options } = reader;
  if (context.job.type !== 'driftDetection') return planReading(planned, context.job.secrets);
  const drifted = markedRows(
    { context, options: { ...options, isDrift: true } },
    repairedPairs(context, captures),
  );
  const paths = new Set(drifted.map(({ path }) => path));
  const marked = planned.map((row) => (paths.has(row.path) ? { ...row, driftByCloud: true } : row));
  const known = new Set(planned.map(({ path }) => path));
  return planReading(
    marked,
    context.job.secrets,
    drifted.filter(({ path }) => !known.has(path)),
  );
}

/** Places at which two renderings of the plan differ. */
function unstableIn(captures: PhaseCaptures, rendering: Rendering, namespace: string): RenderingPath[] {
  const second = renderingOf(captures, again);
  return second === null ? [] : unstablePlaces(rendering, second, namespace);
}

/** Hooks that the release does not have as the chart renders them now. */
function hooksBehind({ captures, options }: ReleaseReader, rendering: Rendering): ReadonlySet<string> {
  const namespace = options.defaultNamespace;
  const unstable = unstableIn(captures, rendering, namespace);
  return changedHooks(historyOf(captures).base, rendering, unstable, namespace);
}

function remarksOf({ context, captures, options }: ReleaseReader, rendering: Rendering): string[] {
  const namespace = options.defaultNamespace;
  const unstable = unstableIn(captures, rendering, namespace);
  const names = [...new Set(unstable.map(placeInWords))].sort();
  return [
    ...strangeInWords(historyOf(captures), context.job),
    ...unfinishedInWords(historyOf(captures), context.job.workspaceName),
    ...uncheckedInWords(captures),
    ...rendering.hooks.map((hook) => `Hook ${hookInWords(hook, namespace)}`),
    ...(names.length === 0
      ? []
      : [
          `The chart renders otherwise each time, and the approval does not cover: ${names.slice(0, 20).join(', ')}` +
            (names.length > 20 ? ` and ${names.length - 20} more` : ''),
        ]),
  ];
}

async function moduleVersions(context: DriverContext, rendering: Rendering): Promise<Record<string, string>> {
  const digest = await chartDigest(context);
  const { chart, chartVersion, dependencies } = rendering;
  if (chart === '') return {};
  return { ...dependencies, [chart]: digest === null ? chartVersion : `${chartVersion} sha256:${digest}` };
}

/** Additional hooks of a destroy, from the last revision. */
function deletionHooks({ context, captures, options }: ReleaseReader): string[] {
  if (skipsHooks(context.job, 'uninstall') || isLeft(context, captures)) return [];
  const hooks = historyOf(captures).revisions.at(-1)?.hooks ?? [];
  const words = hooks.map((hook) => hookInWords(hook, options.defaultNamespace));
  return words.filter((text) => /^[^:]*\b(pre|post)-delete\b/.test(text)).map((text) => `Hook ${text}`);
}

export async function readPlan(context: DriverContext, captures: PhaseCaptures): Promise<PlanReading> {
  const { job } = context;
  const namespace = releaseNamespace(context, captures);
  const reader: ReleaseReader = {
    context,
    captures,
    options: { defaultNamespace: namespace },
    key: (object) => objectKey(object, namespace),
  };
  if (job.type === 'destroy') {
    const reading = planReading(lossRows(reader), job.secrets);
    const history = historyOf(captures);
    const isThere = history.revisions.length > 0 && !isLeft(context, captures);
    return {
      ...reading,
      hasChanges: reading.hasChanges || isThere,
      remarks: [...strangeInWords(history, job), ...deletionHooks(reader)],
    };
  }
  const rendering = requireRendering(captures);
  const hooks = hooksBehind(reader, rendering);
  const isInstallation = historyOf(captures).base === null;
  const planned = [
    ...namespaceRow(context, captures, reader.options),
    ...recordRows(reader),
    ...rows(definedPairs(reader), reader.options),
    ...markedRows(reader, upgradedPairs(context, captures)),
    ...lossRows(reader),
    ...(skipsHooks(job, 'upgrade') ? [] : hookRows(rendering, hooks, isInstallation, namespace)),
  ];
  const reading = withDrift(reader, planned);
  return {
    ...reading,
    hasChanges: reading.hasChanges || hooks.size > 0 || isReleaseBehind(captures, rendering),
    moduleVersions: await moduleVersions(context, rendering),
    remarks: remarksOf(reader, rendering),
  };
}
