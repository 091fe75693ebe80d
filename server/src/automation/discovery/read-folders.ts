/** Reads a repository, and plans what a scan makes of its folders. Changes nothing. */
import type { DiscoveryType } from '#contract/discovery/choices.ts';
import { normalizePath } from '#guards/source-guards.ts';
import { type CommitListing, headOf, listCommit } from '../../code/repositories/git/open-repository.ts';
import { sourceOf } from '../../code/repositories/source-of.ts';
import type { Connection, Context } from '../../framework/context.ts';
import { type FolderPlace, type FolderRow, listFolders } from '../../rows/discovery/folder-store.ts';
import { environmentsOfProjects } from '../../rows/environments/environment-store.ts';
import { projectsBelow } from '../../rows/projects/project-store.ts';
import { type MatchedTree, matchTree } from './matching/match-tree.ts';
import { type PlacedEnvironment, type Placement, placementsOf } from './matching/placement.ts';
import { asksFirst, planFolders, type ScanPlan } from './plan-folders.ts';
import { type DiscoveryRule, type ScanReading, UnmatchableTree } from './scan-reading.ts';

function folderPlace({ place, repository }: DiscoveryRule): FolderPlace {
  return { projectId: place.projectId, repository };
}

function repositoryOf(context: Context, rule: DiscoveryRule) {
  const { repository, settings, credentials: own, place } = rule;
  return sourceOf(context, { repository, settings, own, place, keysOf: place });
}

/** The files of a commit that the glob matches, and what the repository has besides. */
interface ReadTree {
  readonly commit: string;
  readonly tree: MatchedTree;
}

/**
 * Lists a commit and matches its files.
 * @throws UnreadableRepository, UnmatchableTree or Refusal in words for people
 */
async function readTree(context: Context, rule: DiscoveryRule, signal: AbortSignal): Promise<ReadTree> {
  const { columns, settings } = rule;
  const source = await repositoryOf(context, rule);
  const { commit, listing }: CommitListing = await listCommit(
    context,
    source,
    settings.revision || undefined,
  );
  const known = await listFolders(context.db, folderPlace(rule));
  const matching = {
    globPattern: columns.glob_pattern ?? '',
    rootPath: normalizePath(columns.root_path ?? ''),
    type: columns.type as DiscoveryType,
    known: known.filter((row) => row.environment_id !== null).map(({ folder, file }) => ({ folder, file })),
  };
  try {
    return { commit, tree: await matchTree(listing, matching, signal) };
  } catch (error) {
    signal.throwIfAborted();
    throw new UnmatchableTree((error as Error).message, { cause: error });
  }
}

function environmentsOf(known: readonly FolderRow[]): Map<string, PlacedEnvironment> {
  const found = known.flatMap((row): [string, PlacedEnvironment][] => {
    const { environment_project_id: projectId, environment_name: name, workspace_name: workspaceName } = row;
    const isPlaced = projectId !== null && name !== null && workspaceName !== null;
    return row.environment_id !== null && isPlaced ? [[row.folder, { projectId, name, workspaceName }]] : [];
  });
  return new Map(found);
}

async function placementsFor(
  db: Connection,
  { columns, place, repository }: DiscoveryRule,
  folders: readonly string[],
  known: readonly FolderRow[],
): Promise<ReadonlyMap<string, Placement>> {
  const projects = await projectsBelow(db, [place.projectId]);
  const open = projects.filter(({ is_archived: isArchived }) => !isArchived);
  return placementsOf(
    folders,
    {
      projectId: place.projectId,
      repository,
      rootPath: normalizePath(columns.root_path ?? ''),
      environmentPlacement: columns.environment_placement ?? 'topProject',
      workspaceNaming: columns.workspace_naming ?? 'default',
    },
    open.map(({ id, parent_project_id: parentId, name }) => ({ id, parentId, name })),
    environmentsOf(known),
  );
}

async function planScan(db: Connection, rule: DiscoveryRule, { tree }: ReadTree): Promise<ScanPlan> {
  const known = await listFolders(db, folderPlace(rule));
  const placements = await placementsFor(
    db,
    rule,
    tree.folders.map(({ folder }) => folder),
    known,
  );
  const targets = new Set(
    [...placements.values()].flatMap((each) => ('reason' in each ? [] : each.projectId)),
  );
  const environments = await environmentsOfProjects(db, [...targets]);
  const key = (projectId: string, name: string) => `${projectId} ${name}`;
  const byName = new Map(environments.map((each) => [key(each.project_id, each.name), each.id]));
  const plan = planFolders({
    ...{ repository: rule.repository, tree, placements, known },
    existing: (_, { projectId, name }) => {
      const id = byName.get(key(projectId, name));
      return id === undefined ? undefined : { id, refusal: nameTaken(name) };
    },
    onRemoval: rule.columns.on_removal,
  });
  return { ...plan, asksFirst: asksFirst(plan, known, rule.columns.removal_limit_percent) };
}

function nameTaken(name: string): string {
  return `Its project already has an environment named ${JSON.stringify(name)}, which was not found by this discovery: rename or archive one of them`;
}

/** @throws UnreadableRepository, UnmatchableTree or Refusal in words for people */
export async function readFolders(
  context: Context,
  rule: DiscoveryRule,
  signal: AbortSignal,
): Promise<ScanReading> {
  const read = await readTree(context, rule, signal);
  const { commit, tree } = read;
  return {
    mark: commit,
    commit,
    files: tree.files,
    matched: tree.folders.length,
    passedOverCount: tree.passedOverCount,
    plan: ({ db }) => planScan(db, rule, read),
  };
}

/** The head of the branch now. One request says it. @throws UnreadableRepository or Refusal in words for people */
export async function headOfFolders(context: Context, rule: DiscoveryRule): Promise<string | null> {
  const source = await repositoryOf(context, rule);
  return (await headOf(context, source, rule.settings.revision || undefined)) ?? null;
}
