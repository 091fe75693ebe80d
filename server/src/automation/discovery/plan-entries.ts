/** Plans what a scan makes of the entries of discovery files. Changes nothing. */
import { isAssigned } from '../../code/templates/use-template.ts';
import type { Context } from '../../framework/context.ts';
import { fileDiscoveriesOf } from '../../rows/discovery/discovery-store.ts';
import { type FolderRow, foldersOfEnvironments, listFolders } from '../../rows/discovery/folder-store.ts';
import {
  activeEnvironmentsNamed,
  type EnvironmentRow,
  getEnvironmentRows,
} from '../../rows/environments/environment-store.ts';
import { projectPath, projectsBelow } from '../../rows/projects/project-store.ts';
import { listSchedules } from '../../rows/schedules/schedule-store.ts';
import { listTemplateRows } from '../../rows/templates/template-store.ts';
import { listVariablesOf } from '../../rows/variables/variable-store.ts';
import { discoveryFileName, type FileEnvironment } from './discovery-file/discovery-file.ts';
import type { EntryContent } from './discovery-file/entry-content.ts';
import { entryConflict, entryDifferences, takeInRefusal } from './discovery-file/entry-differences.ts';
import {
  atLine,
  type EntryFacts,
  type PlacedEntry,
  placeEntry,
  type TargetProject,
} from './discovery-file/entry-placement.ts';
import {
  type FileRepositories,
  type FileRepository,
  listRepositories,
  matchesName,
} from './list-repositories.ts';
import type { Placement } from './matching/placement.ts';
import {
  asksFirst,
  type ManagedState,
  nothingPlanned,
  planFolders,
  type RepositoryPlan,
  type ScanPlan,
} from './plan-folders.ts';
import { planWords } from './plan-words.ts';
import type { DiscoveryRule } from './scan-reading.ts';

type EntryPlanning = Pick<Context, 'db' | 'sealer' | 'settings'>;

/** An entry of a file, with its place or the reason why it has none. */
interface FoundEntry {
  readonly repository: string;
  readonly key: string;
  readonly environment?: FileEnvironment;
  readonly placed: PlacedEntry;
}

/** Whether a configuration of a project reads a repository. */
async function readsRepository(
  context: EntryPlanning,
  place: DiscoveryRule['place'],
  regex: string,
  { repository }: FileRepository,
): Promise<boolean> {
  if (!(await matchesName(regex, repository.name))) return false;
  return (await listRepositories(context, place)).some(({ id }) => id === repository.id);
}

/** The project with everything below it, and for each repository the projects below it that are in charge. */
async function targetsOf(context: EntryPlanning, { place }: DiscoveryRule) {
  const { db } = context;
  const [above, below] = await Promise.all([
    projectPath(db, place.projectId),
    projectsBelow(db, [place.projectId]),
  ]);
  const names = new Map([...above, ...below].map(({ id, name }) => [id, name]));
  const closer = await fileDiscoveriesOf(
    db,
    below.map(({ id }) => id).filter((id) => id !== place.projectId),
  );
  const targetsFor = async (read: FileRepository): Promise<TargetProject[]> => {
    const inCharge = new Set<string>();
    for (const { project_id: projectId, repository_regex: regex } of closer)
      if (await readsRepository(context, { ...place, projectId }, regex ?? '', read)) inCharge.add(projectId);
    return below.map(({ id, hierarchy, is_archived: isArchived }) => {
      const path = hierarchy.split('|');
      const nearest = path.findLast((each) => inCharge.has(each));
      return {
        ...{ id, isArchived, path: path.map((each) => names.get(each) ?? '') },
        inCharge: nearest === undefined ? undefined : names.get(nearest),
      };
    });
  };
  return { projectName: names.get(place.projectId) ?? '', targetsFor };
}

function entriesOf(read: FileRepository, facts: EntryFacts): FoundEntry[] {
  const { repository, file, variables } = read;
  if (!file) return [];
  const placed = file.environments.map((environment) => ({
    repository: repository.id,
    key: environment.key,
    environment,
    placed: placeEntry(environment, variables.get(environment.key), facts),
  }));
  const wrong = Map.groupBy(
    file.errors.filter(({ key }) => key !== undefined),
    ({ key }) => key as string,
  );
  const refused = [...wrong].map(([key, errors]) => ({
    repository: repository.id,
    key,
    placed: { reason: errors.map(({ line, message }) => atLine(line, message)).join('; ') },
  }));
  return [...placed, ...refused];
}

/** Of entries with the same name in the same project, the first one gets it. */
function withoutCollisions(entries: readonly FoundEntry[]): FoundEntry[] {
  const firsts = new Map<string, FoundEntry>();
  return entries.map((entry) => {
    const { placed, environment } = entry;
    if ('reason' in placed || !environment) return entry;
    const claim = JSON.stringify([placed.projectId, environment.name.toLowerCase()]);
    const first = firsts.get(claim);
    firsts.set(claim, first ?? entry);
    if (first === undefined) return entry;
    const reason = `${entry.key}: its name ${environment.name} is already that of ${first.key} in ${first.repository}`;
    return { ...entry, placed: { reason: atLine(environment.line, reason) } };
  });
}

async function allEntries(
  context: EntryPlanning,
  rule: DiscoveryRule,
  { matched }: FileRepositories,
): Promise<FoundEntry[]> {
  const { organizationId } = rule.place;
  const templates = await listTemplateRows(context.db, { organizationId });
  const { projectName, targetsFor } = await targetsOf(context, rule);
  const entries: FoundEntry[] = [];
  for (const read of matched)
    entries.push(...entriesOf(read, { projectName, templates, isAssigned, targets: await targetsFor(read) }));
  return withoutCollisions(entries);
}

interface EntryEnvironments {
  /** With a name of an entry in its project. */
  named(projectId: string, name: string): readonly EnvironmentRow[];
  isHeld(environmentId: string): boolean;
  /** The planned state of the environment of an entry. */
  managed(row: FolderRow, entry: FoundEntry): ManagedState;
}

async function environmentsFor(
  { db, sealer }: EntryPlanning,
  entries: readonly FoundEntry[],
  known: readonly FolderRow[],
): Promise<EntryEnvironments> {
  const placed = entries.flatMap(({ placed, environment }) =>
    'reason' in placed || !environment ? [] : [{ ...placed, name: environment.name }],
  );
  const projects = [...new Set(placed.map(({ projectId }) => projectId))];
  const names = [...new Set(placed.map(({ name }) => name))];
  const found = await activeEnvironmentsNamed(db, projects, names);
  const holders = await foldersOfEnvironments(
    db,
    found.map(({ id }) => id),
  );
  const held = new Set(holders.map(({ environment_id: id }) => id));
  const ids = known.flatMap(({ environment_id: id }) => id ?? []);
  const rows = new Map((await getEnvironmentRows(db, ids)).map((each) => [each.id, each]));
  const scopes = ids.map((scopeId) => ({ scope: 'ENVIRONMENT' as const, scopeId }));
  const variables = Map.groupBy(await listVariablesOf(db, scopes), ({ scope_id: id }) => id);
  const schedules = await listSchedules(db, ids);
  const drifts = new Map(
    schedules.filter(({ action }) => action === 'driftDetection').map((each) => [each.environment_id, each]),
  );
  const byName = Map.groupBy(found, ({ project_id: id, name }) => JSON.stringify([id, name]));
  return {
    named: (projectId, name) => byName.get(JSON.stringify([projectId, name])) ?? [],
    isHeld: (id) => held.has(id),
    managed(row, { placed, environment: entry }) {
      if ('reason' in placed)
        return { status: 'MANAGED', reason: `${placed.reason}; its environment is kept` };
      const environment = rows.get(row.environment_id ?? '');
      if (!environment || !entry) return { status: 'MANAGED', reason: null };
      const conflict = entryConflict(placed.content, placed.projectId, environment);
      if (conflict !== null) return { status: 'MANAGED', reason: conflict };
      const facts = {
        environment,
        variables: variables.get(environment.id) ?? [],
        drift: drifts.get(environment.id),
      };
      const wanted = { variable_names: row.variable_names, environment_name: entry.name };
      const { isAny } = entryDifferences({ sealer }, wanted, placed.content, facts);
      return { status: isAny ? 'CHANGED' : 'MANAGED', reason: null, environmentName: entry.name };
    },
  };
}

const ofFile = { file: discoveryFileName, fileId: '', treeId: '' };

/** The row about the file itself, where there is something to say. */
function fileReason({ problem, file }: FileRepository): string | undefined {
  if (problem !== undefined) return problem;
  if (!file) return `The repository has no ${discoveryFileName} at its root`;
  const wrong = file.errors.filter(({ key }) => key === undefined);
  return wrong.length === 0 ? undefined : wrong.map(({ line, message }) => atLine(line, message)).join('; ');
}

/** Keys that are not in the file any more. None if the file or the repository cannot be read. */
function goneKeys({ commit, file }: FileRepository, known: readonly FolderRow[]): string[] {
  if (commit === undefined || file?.keys === null) return [];
  const keys = new Set(file?.keys);
  return known.map(({ folder }) => folder).filter((key) => !keys.has(key));
}

/** Rows of a repository that cannot be read, as they are: nothing is known about them. */
function keptRows({ commit, file }: FileRepository, known: readonly FolderRow[]): readonly FolderRow[] {
  return commit === undefined || file?.keys === null ? known.filter(({ folder }) => folder !== '') : [];
}

function placementsOf(entries: readonly FoundEntry[]): ReadonlyMap<string, Placement> {
  return new Map(
    entries.map(({ key, placed, environment }): [string, Placement] => {
      if ('reason' in placed) return [key, placed];
      const { projectId, content } = placed;
      const name = environment?.name ?? key;
      return [key, { projectId, name, workspaceName: content.workspaceName ?? '' }];
    }),
  );
}

function planRepository(
  read: FileRepository,
  entries: readonly FoundEntry[],
  known: readonly FolderRow[],
  environments: EntryEnvironments,
  { columns }: DiscoveryRule,
): RepositoryPlan {
  const byKey = new Map(entries.map((entry) => [entry.key, entry]));
  const contents = new Map(
    entries.flatMap(({ key, placed }): [string, EntryContent][] =>
      'reason' in placed ? [] : [[key, placed.content]],
    ),
  );
  const kept = keptRows(read, known);
  const reason = fileReason(read);
  const isMissing = read.commit !== undefined && !read.file;
  const plan = planFolders({
    repository: read.repository.id,
    tree: {
      folders: entries.map(({ key }) => ({ folder: key, ...ofFile, otherFiles: [] })),
      passedOver: isMissing ? [{ folder: '', file: discoveryFileName, reason: reason ?? '' }] : [],
      gone: goneKeys(read, known),
    },
    known: known.filter((row) => row.folder !== '' && !kept.includes(row)),
    placements: placementsOf(entries),
    existing(key, { projectId, name }) {
      const content = contents.get(key);
      const [found] = environments.named(projectId, name);
      if (!found || !content) return undefined;
      return { id: found.id, refusal: takeInRefusal(content, found, environments.isHeld(found.id)) };
    },
    managed(row) {
      const entry = byKey.get(row.folder);
      return entry ? environments.managed(row, entry) : { status: 'MANAGED', reason: null };
    },
    entries: contents,
    words: planWords.entry,
    onRemoval: columns.on_removal,
  });
  const about = { repository: read.repository.id, folder: '', ...ofFile };
  const isRefused = reason !== undefined && !isMissing;
  const hadFileRow = known.some(({ folder }) => folder === '');
  return {
    folders: isRefused
      ? [{ ...nothingPlanned, ...about, status: 'SKIPPED', reason }, ...plan.folders]
      : plan.folders,
    forgotten:
      hadFileRow && reason === undefined
        ? [...plan.forgotten, { repository: read.repository.id, folder: '' }]
        : plan.forgotten,
  };
}

/** Repositories that the configuration does not name (any more): none of their environments is removed. */
function planOthers(
  { matched, passedOver }: FileRepositories,
  known: readonly FolderRow[],
  { columns }: DiscoveryRule,
): RepositoryPlan[] {
  const read = new Set(matched.map(({ repository }) => repository.id));
  const others = new Map(passedOver.map(({ id, name }) => [id, name]));
  const rows = Map.groupBy(
    known.filter(({ repository }) => !read.has(repository)),
    ({ repository }) => repository,
  );
  return [...new Set([...others.keys(), ...rows.keys()])].map((repository) => {
    const name = others.get(repository);
    const passed =
      name === undefined
        ? []
        : [{ folder: '', file: discoveryFileName, reason: `repositoryRegex does not match ${name}` }];
    return planFolders({
      ...{ repository, known: rows.get(repository) ?? [], placements: new Map() },
      tree: { folders: [], gone: [], passedOver: passed },
      existing: () => undefined,
      words: planWords.entry,
      onRemoval: columns.on_removal,
    });
  });
}

/** Plans with what is stored now. @param context the transaction that stores the plan, if any does */
export async function planEntries(
  context: EntryPlanning,
  rule: DiscoveryRule,
  read: FileRepositories,
): Promise<ScanPlan> {
  const known = await listFolders(context.db, { projectId: rule.place.projectId, repository: '' });
  const entries = await allEntries(context, rule, read);
  const environments = await environmentsFor(context, entries, known);
  const entriesIn = Map.groupBy(entries, ({ repository }) => repository);
  const knownIn = Map.groupBy(known, ({ repository }) => repository);
  const plans = [
    ...read.matched.map((each) => {
      const { id } = each.repository;
      return planRepository(each, entriesIn.get(id) ?? [], knownIn.get(id) ?? [], environments, rule);
    }),
    ...planOthers(read, known, rule),
  ];
  const plan = {
    folders: plans
      .flatMap(({ folders }) => folders)
      .toSorted((a, b) => (a.repository === b.repository ? 0 : a.repository < b.repository ? -1 : 1)),
    forgotten: plans.flatMap(({ forgotten }) => forgotten),
  };
  return { ...plan, asksFirst: asksFirst(plan, known, rule.columns.removal_limit_percent) };
}
