/**
 * Chooses the version of a tool that runs a job, from what was requested and what is available, without
 * access to the machine.
 */
import { compare, prerelease, valid } from 'semver';
import { programFacts } from '#protocol/tools/index.ts';
import { mirrorSettingNames } from '#protocol/tools/programs/program.ts';
import { type Constraint, parseConstraints, satisfies } from './constraints.ts';
import type { IndexAnswer } from './release-index.ts';

/** A requested version; `by` names the field, variable or file that requested it. */
export type RequestedVersion =
  | { readonly kind: 'exact'; readonly version: string; readonly by: string }
  /** With `like`, only matching releases count. */
  | { readonly kind: 'latest'; readonly by: string; readonly like?: RegExp }
  /** The lowest version that the code accepts, or the newest. */
  | { readonly kind: 'code'; readonly by: string; readonly takes?: 'newest' }
  | { readonly kind: 'any' };

/** A constraint of the code, and the file that contains it. */
export interface RequiredVersion {
  readonly file: string;
  /** As written; null if it is not a constant, so that only the tool itself can evaluate it. */
  readonly constraint: string | null;
  /** Name of the setting in the code. Absent: `required_version`. */
  readonly attribute?: string;
  /** For constraints in a language of their own. Throws an Error that quotes an invalid part. */
  readonly meets?: (version: string) => boolean;
}

export interface ToolsThere {
  readonly onPath: { readonly version: string; readonly path: string } | null;
  /** Versions in the cache. */
  readonly cached: readonly string[];
  /** Null: nothing is fetched on this agent. Unused for an exact version. */
  readonly index: IndexAnswer | null;
  /** The location of the index, for messages. */
  readonly indexName: string;
}

export type ToolChoice =
  | { readonly version: string; readonly from: 'PATH' | 'cache' | 'index'; readonly note: string | null }
  | { readonly problem: string };

const codeWords: readonly string[] = ['RESOLVE_FROM_TERRAFORM_CODE', 'RESOLVE_FROM_CODE'];

/**
 * @param text an exact version with or without `v`, `latest`, RESOLVE_FROM_TERRAFORM_CODE or
 * RESOLVE_FROM_CODE; empty: nothing
 * @param by the requesting field or variable, for messages
 * @param isInCode whether code of the tool can require a version
 * @throws Error that names `by` for any other text
 */
export function parseRequestedVersion(
  text: string | undefined,
  by: string,
  isInCode = true,
): RequestedVersion {
  const wanted = text?.trim() ?? '';
  if (wanted === '') return { kind: 'any' };
  if (wanted === 'latest') return { kind: 'latest', by };
  if (isInCode && codeWords.includes(wanted)) return { kind: 'code', by };
  const version = valid(wanted);
  if (version === null)
    throw new Error(
      `${by} is ${JSON.stringify(wanted)}, which is not a version: use an exact one such as 1.9.8${isInCode ? `, latest, or ${codeWords[0]}` : ' or latest'}`,
    );
  return { kind: 'exact', version, by };
}

/**
 * @param name of the program
 * @param required the code's constraints; only used when the code decides
 */
export function chooseTool(
  name: string,
  wanted: RequestedVersion,
  there: ToolsThere,
  required: readonly RequiredVersion[] = [],
): ToolChoice {
  switch (wanted.kind) {
    case 'exact':
      return chooseExact(name, wanted, there);
    case 'any':
      return there.onPath
        ? { version: there.onPath.version, from: 'PATH', note: null }
        : chooseLatest(name, there, null);
    case 'latest':
      return wanted.like === undefined
        ? chooseLatest(name, there, null)
        : chooseLike(name, wanted.by, wanted.like, there);
    case 'code':
      return chooseFromCode(name, there, required, wanted.takes ?? 'least');
  }
}

function chooseExact(
  name: string,
  { version, by }: { version: string; by: string },
  there: ToolsThere,
): ToolChoice {
  const from = placeOf(version, there);
  if (from) return { version, from, note: null };
  if (there.index !== null) return { version, from: 'index', note: null };
  return {
    problem: `${name} ${version} is requested by ${by}, but ${whatIsThere(name, there)}: install it there, or request another version`,
  };
}

function chooseLatest(name: string, there: ToolsThere, note: string | null): ToolChoice {
  const newest = releases(withoutUnlisted(there)).toSorted(compare).at(-1);
  if (newest === undefined)
    return { problem: `${nothingThere(name, there)}: ${howToGet(name)}, then deploy again` };
  return found(newest, there, joined(note, withoutIndex(name, there, 'the newest', 'counts as the latest')));
}

function chooseLike(name: string, by: string, like: RegExp, there: ToolsThere): ToolChoice {
  const newest = releases(there)
    .filter((version) => like.test(version))
    .toSorted(compare)
    .at(-1);
  if (newest !== undefined)
    return found(newest, there, withoutIndex(name, there, 'the newest that fits', 'counts as the latest'));
  return {
    problem: `No release of ${name} matches ${JSON.stringify(like.source)}, which ${by} requests: ${whatIsThere(name, there)}`,
  };
}

function chooseFromCode(
  name: string,
  there: ToolsThere,
  required: readonly RequiredVersion[],
  takes: 'least' | 'newest',
): ToolChoice {
  const judged = required.filter(
    (one): one is RequiredVersion & { constraint: string } => one.constraint !== null,
  );
  const ignored = required.filter((one) => one.constraint === null);
  const note =
    ignored.length === 0
      ? null
      : `${attributesOf(ignored)} of ${ignored.map(({ file }) => file).join(', ')} is not a constant and was ignored`;
  if (judged.length === 0)
    return chooseLatest(name, there, joined(note, 'The code requires no version; using the latest'));
  const constraints: Constraint[] = [];
  const others = judged.flatMap(({ meets }) => meets ?? []);
  for (const { file, constraint, attribute, meets } of judged) {
    try {
      if (meets === undefined) constraints.push(...parseConstraints(constraint));
      else meets('0.0.0');
    } catch (error) {
      return { problem: `${attribute ?? usualAttribute} in ${file}: ${(error as Error).message}` };
    }
  }
  const fitting = [...releases(there), ...namedPrereleases(there, constraints)].filter(
    (version) => satisfies(version, constraints) && others.every((meets) => meets(version)),
  );
  const taken = fitting.toSorted(compare).at(takes === 'least' ? 0 : -1);
  const words = judged.map(({ file, constraint }) => `${JSON.stringify(constraint)} (${file})`).join(' and ');
  if (taken !== undefined)
    return found(
      taken,
      there,
      joined(
        note,
        `The code requires ${words}`,
        withoutIndex(name, there, `the ${takes === 'least' ? 'lowest' : takes} that fits`, 'is used'),
      ),
    );
  return {
    problem: `No ${name} meets what the code requires, ${words}: ${whatIsThere(name, there)}. Change ${attributesOf(judged)}, or specify the version`,
  };
}

const usualAttribute = 'required_version';

function attributesOf(required: readonly RequiredVersion[]): string {
  return [...new Set(required.map(({ attribute = usualAttribute }) => attribute))].join(' and ');
}

function found(version: string, there: ToolsThere, note: string | null): ToolChoice {
  return { version, from: placeOf(version, there) ?? 'index', note };
}

function placeOf(version: string, there: ToolsThere): 'PATH' | 'cache' | null {
  if (valid(there.onPath?.version) === version) return 'PATH';
  return there.cached.includes(version) ? 'cache' : null;
}

function all({ onPath, cached, index }: ToolsThere): string[] {
  const listed = index && 'versions' in index ? index.versions : [];
  return [...(onPath ? [onPath.version] : []), ...cached, ...listed]
    .map((version) => valid(version))
    .filter((version) => version !== null);
}

/**
 * Exactly requested versions in the cache do not count as the latest for all others: an
 * index may list only the newest stable version, or only those of one major version.
 */
function withoutUnlisted(there: ToolsThere): ToolsThere {
  const { cached, index } = there;
  if (index === null || 'problem' in index || index.versions.length === 0) return there;
  const listed = new Set(index.versions.map((version) => valid(version)));
  return { ...there, cached: cached.filter((version) => listed.has(version)) };
}

function releases(there: ToolsThere): string[] {
  return all(there).filter((version) => prerelease(version) === null);
}

function namedPrereleases(there: ToolsThere, constraints: readonly Constraint[]): string[] {
  const named = constraints.filter(({ operator, prerelease: name }) => operator === '=' && name !== '');
  return all(there).filter(
    (version) => prerelease(version) !== null && named.some((constraint) => satisfies(version, [constraint])),
  );
}

/** A note if the index could not be read, else null. */
function withoutIndex(name: string, { index }: ToolsThere, what: string, end: string): string | null {
  if (index && 'versions' in index) return null;
  const why = index ? ` (${index.problem})` : '';
  return `The index of ${name} versions is unreachable${why}: ${what} on the agent's PATH or in its cache ${end}`;
}

function nothingThere(name: string, { onPath, index }: ToolsThere): string {
  const path = onPath
    ? `${name} ${onPath.version} on the agent's PATH is not a release`
    : `${name} is not on the agent's PATH`;
  const fetching =
    index === null
      ? 'nothing is fetched here'
      : 'problem' in index
        ? `no index is reachable: ${index.problem}`
        : 'its index lists none for this machine';
  return `${path}, its tool cache has none, and ${fetching}`;
}

function howToGet(name: string): string {
  const release = programFacts(name)?.release;
  const fetched = release
    ? `, or let the agent reach an index of its versions (setting ${mirrorSettingNames(release.word).mirror})`
    : '';
  return `install ${name} on the agent's machine${fetched}`;
}

/** Versions that the agent could run instead, for a message. */
export function whatIsThere(name: string, there: ToolsThere): string {
  const { onPath, cached, index, indexName } = there;
  const parts = onPath ? [`${onPath.version} (${onPath.path})`] : [];
  if (cached.length > 0) parts.push(`${cached.toSorted(compare).join(', ')} (tool cache)`);
  const here = parts.length === 0 ? `this agent has no ${name}` : `this agent has ${parts.join(', ')}`;
  if (index === null) return `${here}, and nothing is fetched here`;
  if ('problem' in index) return `${here}, and no index is reachable: ${index.problem}`;
  const listed = index.versions.filter((version) => valid(version) !== null).toSorted(compare);
  return `${here}, and ${indexName} lists ${listed.length} versions${listed.length === 0 ? '' : ` from ${listed[0]} to ${listed.at(-1)}`}`;
}

function joined(...sentences: readonly (string | null)[]): string | null {
  const known = sentences.filter((sentence) => sentence !== null);
  return known.length === 0 ? null : known.join('. ');
}
