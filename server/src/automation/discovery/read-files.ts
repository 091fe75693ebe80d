/** Reads the discovery files of all repositories that a configuration names. Changes nothing. */
import { createHash } from 'node:crypto';
import { type CommitTree, UnreadableFile } from '../../code/repositories/git/commit-tree.ts';
import { UnreadableRepository } from '../../code/repositories/git/fetch-commit.ts';
import { headOf, readRepository } from '../../code/repositories/git/open-repository.ts';
import type { Context } from '../../framework/context.ts';
import { Refusal } from '../../ground/errors.ts';
import { discoveryFileName, type FileEnvironment } from './discovery-file/discovery-file.ts';
import type { EntryVariables } from './discovery-file/entry-placement.ts';
import { parseDiscoveryFile } from './discovery-file/parse-discovery-file.ts';
import { type FileVariables, parseVariableFiles } from './discovery-file/parse-variable-files.ts';
import {
  type FileRepository,
  type ListedRepository,
  listRepositories,
  matchesName,
  sourceOfListed,
} from './list-repositories.ts';
import { planEntries } from './plan-entries.ts';
import { type DiscoveryRule, type ScanReading, UnmatchableTree } from './scan-reading.ts';

/** Effects end after a minute. */
const readingMilliseconds = 40_000;
const askingMilliseconds = 10_000;
const atOnce = 3;
const mostRepositories = 500;
const mostEntries = 10_000;
/** Repositories that are not matched, which are listed. */
const mostPassedOver = 1000;
const filesAtOnce = 400;
const mostVariableFiles = 2000;

async function matching(context: Context, { columns, place }: DiscoveryRule) {
  const matched: ListedRepository[] = [];
  const passedOver: ListedRepository[] = [];
  for (const repository of await listRepositories(context, place)) {
    const isMatch = await matchesName(columns.repository_regex ?? '', repository.name);
    (isMatch ? matched : passedOver).push(repository);
  }
  if (matched.length > mostRepositories)
    throw new UnmatchableTree(`repositoryRegex matches more than ${mostRepositories} repositories`);
  return { matched, passedOver: passedOver.slice(0, mostPassedOver) };
}

async function textsOf(tree: CommitTree, paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (let at = 0; at < paths.length; at += filesAtOnce)
    for (const [path, text] of await tree.read(paths.slice(at, at + filesAtOnce))) texts.set(path, text);
  return texts;
}

async function variablesOf(
  tree: CommitTree,
  environments: readonly FileEnvironment[],
  signal: AbortSignal,
): Promise<Map<string, EntryVariables>> {
  const paths = [...new Set(environments.flatMap(({ variableFiles = [] }) => variableFiles))];
  if (paths.length > mostVariableFiles)
    throw new UnreadableFile(`${discoveryFileName} names more than ${mostVariableFiles} variable files`);
  const texts = await textsOf(tree, paths);
  const parsed = new Map<string, FileVariables>();
  const found = new Map<string, EntryVariables>();
  for (const { key, variableFiles = [] } of environments) {
    const missing = variableFiles.find((path) => !texts.has(path));
    if (missing !== undefined) {
      found.set(key, { variables: [], problem: `variable file ${missing} is not in the repository` });
      continue;
    }
    const names = JSON.stringify(variableFiles);
    const files = variableFiles.map((path) => ({ path, text: texts.get(path) ?? '' }));
    const read = parsed.get(names) ?? (await parseVariableFiles(files, signal));
    parsed.set(names, read);
    const [error] = read.errors;
    found.set(key, { variables: read.variables, problem: error?.message ?? null });
  }
  return found;
}

async function readTree(
  repository: ListedRepository,
  tree: CommitTree,
  signal: AbortSignal,
): Promise<FileRepository> {
  const commit = await tree.id();
  const text = (await tree.read([discoveryFileName])).get(discoveryFileName);
  if (text === undefined) return { repository, commit, variables: new Map() };
  const file = await parseDiscoveryFile(text);
  return { repository, commit, file, variables: await variablesOf(tree, file.environments, signal) };
}

/** @param limit aborted when the time of the scan is over */
async function readOne(
  context: Context,
  rule: DiscoveryRule,
  repository: ListedRepository,
  limit: AbortSignal,
): Promise<FileRepository> {
  const late = 'The time of the scan was over before this repository was read; a later scan reads it';
  if (limit.aborted) return { repository, problem: late, variables: new Map() };
  try {
    const source = await sourceOfListed(context, repository, rule.place);
    const stopping = AbortSignal.any([context.stopping, limit]);
    return await readRepository({ ...context, stopping }, source, undefined, (tree, signal) =>
      readTree(repository, tree, AbortSignal.any([signal, limit])),
    );
  } catch (error) {
    if (limit.aborted) return { repository, problem: late, variables: new Map() };
    const isExpected =
      error instanceof UnreadableRepository || error instanceof Refusal || error instanceof UnreadableFile;
    if (!isExpected) throw error;
    return { repository, problem: `The repository cannot be read: ${error.message}`, variables: new Map() };
  }
}

async function readAll(
  context: Context,
  rule: DiscoveryRule,
  repositories: readonly ListedRepository[],
  signal: AbortSignal,
): Promise<FileRepository[]> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(readingMilliseconds)]);
  const read: FileRepository[] = [];
  const left = repositories.values();
  const readOn = async () => {
    for (const repository of left) read.push(await readOne(context, rule, repository, limit));
  };
  await Promise.all(Array.from({ length: atOnce }, readOn));
  signal.throwIfAborted();
  return read.toSorted((a, b) => (a.repository.id < b.repository.id ? -1 : 1));
}

/** The same for the same commits of the same repositories; null if one of them is not known. */
function markOf(heads: readonly (readonly [string, string | undefined])[]): string | null {
  if (heads.some(([, commit]) => commit === undefined)) return null;
  return createHash('sha256').update(JSON.stringify(heads)).digest('hex');
}

/**
 * The mark that a reading would have now. One request to each repository says it.
 * @returns null where one of them cannot be asked, so that a scan says why, or where there are too many
 */
export async function markOfFiles(context: Context, rule: DiscoveryRule): Promise<string | null> {
  const { matched } = await matching(context, rule);
  const heads: [string, string | undefined][] = [];
  const until = performance.now() + askingMilliseconds;
  for (const repository of matched) {
    if (performance.now() > until) return null;
    try {
      const source = await sourceOfListed(context, repository, rule.place);
      heads.push([repository.id, await headOf(context, source, undefined)]);
    } catch (error) {
      if (error instanceof UnreadableRepository || error instanceof Refusal) return null;
      throw error;
    }
  }
  return markOf(heads);
}

/** Entries that have not become environments are tried again: what they lack is not in the repository. */
function hasProblems({ commit, file, variables }: FileRepository): boolean {
  if (commit === undefined) return true;
  return (file?.errors.length ?? 0) > 0 || [...variables.values()].some(({ problem }) => problem !== null);
}

/**
 * Reads the discovery file at the head of the default branch of each repository. One that cannot be read is listed
 * with the reason.
 * @throws UnmatchableTree or Refusal in words for people
 */
export async function readFiles(
  context: Context,
  rule: DiscoveryRule,
  signal: AbortSignal,
): Promise<ScanReading> {
  const { matched, passedOver } = await matching(context, rule);
  const read = { matched: await readAll(context, rule, matched, signal), passedOver };
  const entries = read.matched.reduce((sum, { file }) => sum + (file?.keys?.length ?? 0), 0);
  if (entries > mostEntries)
    throw new UnmatchableTree(`the discovery files have more than ${mostEntries} environments in all`);
  const heads = read.matched.map(({ repository, commit }) => [repository.id, commit] as const);
  return {
    mark: read.matched.some(hasProblems) ? null : markOf(heads),
    commit: null,
    files: read.matched.filter(({ file }) => file !== undefined).length,
    matched: entries,
    passedOverCount: passedOver.length,
    plan: (context) => planEntries(context, rule, read),
  };
}
