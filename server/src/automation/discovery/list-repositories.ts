/** Repositories that may contain discovery files of a project. */
import { matchesRegexInTurn } from '#guards/match-regex.ts';
import { readRepository } from '#guards/source-guards.ts';
import { sourceOf } from '../../code/repositories/source-of.ts';
import type { Context } from '../../framework/context.ts';
import { type ProjectPlace, projectsBelow } from '../../rows/projects/project-store.ts';
import { openCredentials, type TemplateRow } from '../../rows/templates/template-store.ts';
import { templatesOfProjects } from '../../rows/templates/template-use-store.ts';
import type { DiscoveryFile } from './discovery-file/discovery-file.ts';
import type { EntryVariables } from './discovery-file/entry-placement.ts';
import { UnmatchableTree } from './scan-reading.ts';

export interface ListedRepository {
  /** The same for all spellings of an address: host and path. */
  readonly id: string;
  /** `<owner>/<repository>`. */
  readonly name: string;
  /** Its address and credentials. */
  readonly template: TemplateRow;
}

/** A repository that the configuration names. */
export interface FileRepository {
  readonly repository: ListedRepository;
  /** Absent: the repository could not be read, which removes nothing. */
  readonly commit?: string;
  /** Reason why it could not be read. */
  readonly problem?: string;
  /** Absent with a `commit`: the repository has no discovery file. */
  readonly file?: DiscoveryFile;
  /** Variables of each entry that has files of them. */
  readonly variables: ReadonlyMap<string, EntryVariables>;
}

/** Findings of a configuration with discovery files. */
export interface FileRepositories {
  readonly matched: readonly FileRepository[];
  readonly passedOver: readonly ListedRepository[];
}

type RepositoryListing = Pick<Context, 'db' | 'settings'>;

function withoutEnd(path: string): string {
  return path.replace(/^\/+|\/+$/g, '').replace(/\.git$/i, '');
}

/** @returns undefined for an address that is not allowed (any more) */
function identityOf(
  { settings }: Pick<RepositoryListing, 'settings'>,
  repository: string,
): Omit<ListedRepository, 'template'> | undefined {
  const kind = readRepository(repository, {
    httpHosts: settings.gitHttpHosts,
    localPaths: settings.gitLocalPaths,
  });
  if ('refusal' in kind) return undefined;
  if (kind.kind === 'local')
    return { id: kind.path, name: withoutEnd(kind.path).split('/').slice(-2).join('/') };
  const name = withoutEnd(kind.kind === 'ssh' ? kind.address.path : new URL(kind.url).pathname);
  return { id: `${kind.host.toLowerCase()}/${name}`, name };
}

/** `<owner>/<repository>` of an address; undefined for one that is not allowed. */
export function nameOfRepository(
  context: Pick<RepositoryListing, 'settings'>,
  repository: string,
): string | undefined {
  return identityOf(context, repository)?.name;
}

/**
 * The repositories that a project knows: those of the templates that it, a project below it, or one of their
 * environments uses. A forge that lists its repositories belongs here.
 * @returns each once, whatever its address is spelled like
 */
export async function listRepositories(
  context: RepositoryListing,
  { organizationId, projectId }: ProjectPlace,
): Promise<ListedRepository[]> {
  const projects = await projectsBelow(context.db, [projectId]);
  const ids = projects.map(({ id }) => id);
  const templates = await templatesOfProjects(context.db, organizationId, ids);
  const found = new Map<string, ListedRepository>();
  for (const template of templates) {
    if (template.repository === '' || template.settings.isHelmRepository === true) continue;
    const identity = identityOf(context, template.repository);
    if (identity && !found.has(identity.id)) found.set(identity.id, { ...identity, template });
  }
  return [...found.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The repository with the credentials of the template that names it. */
export function sourceOfListed(context: Context, { template }: ListedRepository, place: ProjectPlace) {
  return sourceOf(context, {
    repository: template.repository,
    settings: template.settings,
    own: openCredentials(context, template),
    place,
    keysOf: place,
  });
}

/** @returns why an expression cannot be used, as the rest of a sentence; null if it can */
export function regexRefusal(regex: string): string | null {
  try {
    // Only compiled: matching is limited in time.
    new RegExp(regex);
    return null;
  } catch (error) {
    return `is not a valid regular expression: ${(error as Error).message}`;
  }
}

/**
 * Whether the whole name of a repository matches.
 * @throws UnmatchableTree for an expression that takes too long
 */
export async function matchesName(regex: string, name: string): Promise<boolean> {
  const isMatch = await matchesRegexInTurn(`^(?:${regex})$`, name);
  if (isMatch === null)
    throw new UnmatchableTree(
      `repositoryRegex takes too long on ${name}: use no repetition inside of another one, such as (a+)+`,
    );
  return isMatch;
}
