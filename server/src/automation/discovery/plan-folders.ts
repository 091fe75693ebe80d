/** Plans the state of the folders that a scan found. Pure. */
import type { FolderStatus, Removal } from '#contract/discovery/choices.ts';

import type { FolderRow } from '../../rows/discovery/folder-store.ts';
import type { EntryContent } from './discovery-file/entry-content.ts';
import type { MatchedFolder, MatchedTree } from './matching/match-tree.ts';
import type { Placement } from './matching/placement.ts';
import { type PlanWords, planWords } from './plan-words.ts';

/** A folder, or an entry of a discovery file, as it is stored after the scan. */
export interface PlannedFolder {
  readonly repository: string;
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
  /** Content of an entry; null for folders. */
  readonly entry: EntryContent | null;
}

/** An environment that already is where another one is to be created. */
export interface ExistingEnvironment {
  readonly id: string;
  /** Reason why it is not taken in; null: it is. */
  readonly refusal: string | null;
}

/** The planned state of an environment that discovery manages. */
export interface ManagedState {
  readonly status: 'MANAGED' | 'CHANGED';
  readonly reason: string | null;
  /** Absent: the name stays. */
  readonly environmentName?: string;
}

type FoundPlace = Exclude<Placement, { readonly reason: string }>;

/** Everything that the plan depends on. */
export interface ScanFacts {
  readonly repository: string;
  readonly tree: Pick<MatchedTree, 'folders' | 'passedOver' | 'gone'>;
  /** Rows of earlier scans of the repository. */
  readonly known: readonly FolderRow[];
  /** The place of the environment of each matched folder. */
  readonly placements: ReadonlyMap<string, Placement>;
  existing(folder: string, placed: FoundPlace): ExistingEnvironment | undefined;
  /** Absent: folders never change their environment. */
  readonly managed?: (row: FolderRow) => ManagedState;
  /** Absent: those of folders. */
  readonly words?: PlanWords;
  /** Content of entries, by key. */
  readonly entries?: ReadonlyMap<string, EntryContent>;
  readonly onRemoval: Removal;
}

export interface ScanPlan {
  /** Sorted by path. */
  readonly folders: readonly PlannedFolder[];
  /** Folders about which nothing has to be kept. */
  readonly forgotten: readonly Pick<FolderRow, 'repository' | 'folder'>[];
  /** Whether more environments would be archived or destroyed than a scan may without asking. */
  readonly asksFirst: boolean;
}

const ids = ({ file, fileId, treeId }: MatchedFolder) => ({ file, fileId, treeId });

/** Of a folder or entry without an environment. */
export const nothingPlanned = {
  reason: null,
  environmentId: null,
  environmentName: null,
  environmentProjectId: null,
  workspaceName: null,
  renamedFrom: null,
  entry: null,
};

/** The row as a plan that changes nothing. */
function asKnown(row: FolderRow): PlannedFolder {
  return {
    repository: row.repository,
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
    entry: null,
  };
}

const unchanged: ManagedState = { status: 'MANAGED', reason: null };

/** A matched folder that has, or had, an environment; undefined for any other. */
function knownAgain(
  found: MatchedFolder,
  row: FolderRow | undefined,
  facts: WordedFacts,
): PlannedFolder | undefined {
  if (!row) return undefined;
  const { words, managed = () => unchanged } = facts;
  const entry = facts.entries?.get(row.folder) ?? null;
  const known = { ...asKnown(row), ...ids(found), renamedFrom: null, entry };
  if (row.environment_id !== null)
    return row.status === 'REMOVED' ? { ...known, reason: words.returned } : { ...known, ...managed(row) };
  // Rows with these states had an environment, which was deleted with its id.
  const had = ['MANAGED', 'CHANGED', 'MISSING', 'REMOVING', 'REMOVED', 'DELETED'].includes(row.status);
  return had ? { ...known, status: 'DELETED', reason: words.deleted } : undefined;
}

function newFolder(found: MatchedFolder, facts: WordedFacts): PlannedFolder {
  const { placements, existing, repository, entries } = facts;
  const { folder } = found;
  const entry = entries?.get(folder) ?? null;
  const base = { ...nothingPlanned, repository, folder, ...ids(found), entry };
  const placement = placements.get(found.folder) ?? { reason: 'It has no place' };
  if ('reason' in placement) return { ...base, status: 'SKIPPED', reason: placement.reason };
  const { projectId, name, workspaceName } = placement;
  const planned = { ...base, environmentName: name, environmentProjectId: projectId, workspaceName };
  const other = existing(folder, placement);
  if (other === undefined) return { ...planned, status: 'PENDING' };
  return other.refusal === null
    ? { ...planned, status: 'PENDING', environmentId: other.id }
    : { ...planned, status: 'SKIPPED', reason: other.refusal };
}

/** A folder with an environment that the scan did not match. */
function notMatched(row: FolderRow, isGone: boolean, { words, onRemoval }: WordedFacts): PlannedFolder {
  const known = asKnown(row);
  if (!isGone) return { ...known, status: 'MANAGED', reason: words.notMatched };
  if (row.status === 'REMOVED') return known;
  return onRemoval === 'flag'
    ? { ...known, status: 'MISSING', reason: words.gone }
    : { ...known, status: 'REMOVING', reason: words[onRemoval] };
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

/** WordedFacts with the words of their kind. */
type WordedFacts = ScanFacts & { readonly words: PlanWords };

/** Plan for one repository. */
export type RepositoryPlan = Omit<ScanPlan, 'asksFirst'>;

/** Plans the state of every folder of a repository; nothing of it depends on the order in which scans came. */
export function planFolders(given: ScanFacts): RepositoryPlan {
  const facts: WordedFacts = { ...given, words: given.words ?? planWords.folder };
  const { tree, known, repository } = facts;
  const rows = new Map(known.map((row) => [row.folder, row]));
  const gone = new Set(tree.gone);
  const matched = tree.folders.map(
    (found) => knownAgain(found, rows.get(found.folder), facts) ?? newFolder(found, facts),
  );
  const matchedNames = new Set(tree.folders.map(({ folder }) => folder));
  const left = known.filter(({ folder }) => !matchedNames.has(folder));
  const kept = left
    .filter(({ environment_id: id }) => id !== null)
    .map((row) => notMatched(row, gone.has(row.folder), facts));
  const keptNames = new Set(kept.map(({ folder }) => folder));
  const passedOver = tree.passedOver
    .filter(({ folder }) => !keptNames.has(folder) && !matchedNames.has(folder))
    .map(({ folder, file, reason }): PlannedFolder => {
      const base = { ...nothingPlanned, repository, folder, file, fileId: '', treeId: '' };
      return { ...base, status: 'PASSED_OVER', reason };
    });
  const folders = withRenames([...matched, ...kept, ...passedOver]).toSorted((a, b) =>
    a.folder < b.folder ? -1 : 1,
  );
  const stored = new Set(folders.map(({ folder }) => folder));
  return { folders, forgotten: left.filter(({ folder }) => !stored.has(folder)) };
}

/** Whether a plan archives or destroys more environments of the known rows than a scan may without asking. */
export function asksFirst(
  { folders }: RepositoryPlan,
  known: readonly FolderRow[],
  removalLimitPercent: number,
): boolean {
  const managed = known.filter((row) => row.environment_id !== null && row.status !== 'REMOVED').length;
  const removals = folders.filter(({ status }) => status === 'REMOVING').length;
  return removals > (managed * removalLimitPercent) / 100;
}
