/** Plans the state of the folders that a scan found. Pure. */
import type { Removal } from '#contract/discovery/choices.ts';
import type { FolderStatus } from '#contract/discovery/shapes.ts';
import type { FolderRow } from '../../rows/discovery/folder-store.ts';
import type { MatchedFolder, MatchedTree } from './matching/match-tree.ts';
import type { Placement } from './matching/placement.ts';

/** A folder as it is stored after the scan. */
export interface PlannedFolder {
  readonly folder: string;
  readonly file: string;
  readonly fileId: string;
  readonly treeId: string;
  readonly status: FolderStatus;
  readonly reason: string | null;
  readonly environmentId: string | null;
  readonly environmentName: string | null;
  readonly environmentProjectId: string | null;
  readonly workspaceName: string | null;
  readonly renamedFrom: string | null;
}

/** Everything that the plan depends on. */
export interface ScanFacts {
  readonly tree: MatchedTree;
  /** Rows of earlier scans of the repository. */
  readonly known: readonly FolderRow[];
  /** The place of the environment of each matched folder. */
  readonly placements: ReadonlyMap<string, Placement>;
  /** Id of the environment that has a name in a project. */
  environmentNamed(projectId: string, name: string): string | undefined;
  readonly onRemoval: Removal;
  readonly removalLimitPercent: number;
}

export interface ScanPlan {
  /** Sorted by path. */
  readonly folders: readonly PlannedFolder[];
  /** Folders about which nothing has to be kept. */
  readonly forgotten: readonly string[];
  /** Whether more environments would be archived or destroyed than a scan may without asking. */
  readonly asksFirst: boolean;
}

const reasons = {
  deleted: 'Its environment was deleted; it is not created again while the folder is there',
  notMatched: 'globPattern or rootPath does not include the folder any more; its environment is kept',
  gone: 'The folder is not in the repository any more; its environment is kept',
  returned: 'The folder was gone and is back: restore its environment, or deploy it',
} as const;

const removing: Readonly<Record<Exclude<Removal, 'flag'>, string>> = {
  archive: 'The folder is not in the repository any more; its environment is archived',
  destroy: 'The folder is not in the repository any more; its environment is destroyed',
};

const ids = ({ file, fileId, treeId }: MatchedFolder) => ({ file, fileId, treeId });

const nothingPlanned = {
  reason: null,
  environmentId: null,
  environmentName: null,
  environmentProjectId: null,
  workspaceName: null,
  renamedFrom: null,
};

/** The row as a plan that changes nothing. */
function asKnown(row: FolderRow): PlannedFolder {
  return {
    folder: row.folder,
    file: row.file,
    fileId: row.file_id,
    treeId: row.tree_id,
    status: row.status,
    reason: row.reason,
    environmentId: row.environment_id,
    environmentName: row.environment_name,
    environmentProjectId: row.environment_project_id,
    workspaceName: row.workspace_name,
    renamedFrom: row.renamed_from,
  };
}

/** A matched folder that has, or had, an environment; undefined for any other. */
function knownAgain(found: MatchedFolder, row: FolderRow | undefined): PlannedFolder | undefined {
  if (!row) return undefined;
  const known = { ...asKnown(row), ...ids(found), renamedFrom: null };
  if (row.environment_id !== null)
    return row.status === 'REMOVED'
      ? { ...known, reason: reasons.returned }
      : { ...known, status: 'MANAGED', reason: null };
  // Rows with these states had an environment, which was deleted with its id.
  const had = ['MANAGED', 'MISSING', 'REMOVING', 'REMOVED', 'DELETED'].includes(row.status);
  return had ? { ...known, status: 'DELETED', reason: reasons.deleted } : undefined;
}

function newFolder(found: MatchedFolder, { placements, environmentNamed }: ScanFacts): PlannedFolder {
  const base = { ...nothingPlanned, folder: found.folder, ...ids(found) };
  const placement = placements.get(found.folder) ?? { reason: 'It has no place' };
  if ('reason' in placement) return { ...base, status: 'SKIPPED', reason: placement.reason };
  const { projectId, name, workspaceName } = placement;
  const planned = { ...base, environmentName: name, environmentProjectId: projectId, workspaceName };
  if (environmentNamed(projectId, name) === undefined) return { ...planned, status: 'PENDING' };
  const reason = `Its project already has an environment named ${JSON.stringify(name)}, which was not found by this discovery: rename or archive one of them`;
  return { ...planned, status: 'SKIPPED', reason };
}

/** A folder with an environment that the scan did not match. */
function notMatched(row: FolderRow, isGone: boolean, onRemoval: Removal): PlannedFolder {
  const known = asKnown(row);
  if (!isGone) return { ...known, status: 'MANAGED', reason: reasons.notMatched };
  if (row.status === 'REMOVED') return known;
  return onRemoval === 'flag'
    ? { ...known, status: 'MISSING', reason: reasons.gone }
    : { ...known, status: 'REMOVING', reason: removing[onRemoval] };
}

/**
 * Pairs new folders with those that are gone and had the same content, where there is exactly one of each.
 * @returns the folder that is gone, by the new one
 */
function renamesOf(created: readonly PlannedFolder[], gone: readonly PlannedFolder[]): Map<string, string> {
  // The root has no id of its own, and a folder about which a person has decided has none any more.
  const isId = (id: string, other: string) => id !== '' && id === other;
  const isSame = (a: PlannedFolder, b: PlannedFolder) => isId(a.treeId, b.treeId) || isId(a.fileId, b.fileId);
  const pairs = created.flatMap((folder) => {
    const candidates = gone.filter((each) => isSame(each, folder));
    const [only] = candidates;
    const isOnly =
      only && candidates.length === 1 && created.filter((each) => isSame(each, only)).length === 1;
    return isOnly ? [[folder.folder, only.folder] as const] : [];
  });
  return new Map(pairs);
}

function withRenames(folders: readonly PlannedFolder[]): PlannedFolder[] {
  const created = folders.filter(({ status }) => status === 'PENDING');
  const gone = folders.filter(({ status }) => status === 'MISSING' || status === 'REMOVING');
  const renames = renamesOf(created, gone);
  const newNames = new Map([...renames].map(([to, from]) => [from, to]));
  return folders.map((each) => {
    const from = renames.get(each.folder);
    const to = newNames.get(each.folder);
    if (from !== undefined)
      return {
        ...each,
        status: 'RENAMED',
        renamedFrom: from,
        reason: `It has the content of ${JSON.stringify(from)}, which is gone: say whether its environment follows, or this becomes another one`,
      };
    if (to === undefined) return each;
    return {
      ...each,
      status: 'MISSING',
      reason: `The folder is gone, and ${JSON.stringify(to)} has its content: say there whether this environment follows`,
    };
  });
}

/** Plans the state of every folder; nothing of it depends on the order in which scans came. */
export function planFolders(facts: ScanFacts): ScanPlan {
  const { tree, known, onRemoval, removalLimitPercent } = facts;
  const rows = new Map(known.map((row) => [row.folder, row]));
  const gone = new Set(tree.gone);
  const matched = tree.folders.map(
    (found) => knownAgain(found, rows.get(found.folder)) ?? newFolder(found, facts),
  );
  const matchedNames = new Set(tree.folders.map(({ folder }) => folder));
  const left = known.filter(({ folder }) => !matchedNames.has(folder));
  const kept = left
    .filter(({ environment_id: id }) => id !== null)
    .map((row) => notMatched(row, gone.has(row.folder), onRemoval));
  const keptNames = new Set(kept.map(({ folder }) => folder));
  const passedOver = tree.passedOver
    .filter(({ folder }) => !keptNames.has(folder) && !matchedNames.has(folder))
    .map(({ folder, file, reason }): PlannedFolder => {
      const base = { ...nothingPlanned, folder, file, fileId: '', treeId: '' };
      return { ...base, status: 'PASSED_OVER', reason };
    });
  const folders = withRenames([...matched, ...kept, ...passedOver]).toSorted((a, b) =>
    a.folder < b.folder ? -1 : 1,
  );
  const stored = new Set(folders.map(({ folder }) => folder));
  const managed = known.filter((row) => row.environment_id !== null && row.status !== 'REMOVED').length;
  const removals = folders.filter(({ status }) => status === 'REMOVING').length;
  return {
    folders,
    forgotten: left.map(({ folder }) => folder).filter((folder) => !stored.has(folder)),
    asksFirst: removals > (managed * removalLimitPercent) / 100,
  };
}
