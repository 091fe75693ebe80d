/** Places environments of discovered folders in projects, and names them and their workspaces. */
import { createHash } from 'node:crypto';

export interface PlacementRule {
  readonly projectId: string;
  readonly environmentPlacement: 'topProject' | 'existingSubProject';
  readonly workspaceNaming: 'default' | 'environmentName';
  /** Normalized, without slashes around it; '': the root of the repository. */
  readonly rootPath: string;
  /** Its address names the environment of its root. */
  readonly repository: string;
}

/** A project below the one of the rule, at any level, that environments may be created in. */
export interface SubProject {
  readonly id: string;
  readonly parentId: string | null;
  readonly name: string;
}

export interface PlacedEnvironment {
  readonly projectId: string;
  readonly name: string;
  readonly workspaceName: string;
}

/** The place of an environment, or why a folder cannot have one: a sentence without a period. */
export type Placement = PlacedEnvironment | { readonly reason: string };

const longestName = 255;
const longestWorkspaceName = 90;
const hashCharacters = 8;

/** The path of a folder below rootPath; null if it is outside. */
function pathBelow(folder: string, rootPath: string): string | null {
  if (folder === rootPath) return '';
  if (rootPath === '') return folder;
  return folder.startsWith(`${rootPath}/`) ? folder.slice(rootPath.length + 1) : null;
}

/** The last part of the address, without `.git`: of a URL, of `host:path`, and of a path. */
function nameOfRepository(repository: string): string {
  const [path = ''] = repository.split(/[?#]/);
  return (path.replace(/\/+$/, '').split(/[/:]/).at(-1) ?? '').replace(/\.git$/, '');
}

/** IDs of projects by parent and name. */
type ProjectIndex = ReadonlyMap<string, string>;

function keyOf(parentId: string | null, name: string): string {
  return `${parentId}/${name}`;
}

interface Walked {
  readonly projectId: string;
  readonly rest: readonly string[];
}

/** Enters sub-projects as far as their names equal the leading segments, and leaves one segment for the name. */
function walk(projectId: string, segments: readonly string[], index: ProjectIndex): Walked {
  const [first = '', ...rest] = segments;
  const next = index.get(keyOf(projectId, first));
  return next === undefined || rest.length === 0 ? { projectId, rest: segments } : walk(next, rest, index);
}

/**
 * The workspace of an environment by its name: characters that a workspace cannot have become hyphens. A hash keeps
 * names apart that would otherwise become the same one, except for the slashes and blanks that most names have.
 */
function workspaceNameFrom(name: string): string {
  const replaced = name.replaceAll(/[/\s]+/g, '-');
  const allowed = replaced.replaceAll(/[^A-Za-z0-9._~$&+=:@-]+/g, '-').replace(/^[^A-Za-z0-9_]+/, '');
  const isWhole = allowed === replaced && allowed.length <= longestWorkspaceName;
  if (isWhole) return allowed;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, hashCharacters);
  const kept = allowed.slice(0, longestWorkspaceName - hashCharacters - 1).replace(/-+$/, '');
  return kept === '' ? hash : `${kept}-${hash}`;
}

function problemOfName(name: string): string | null {
  if (name.trim() === '') return 'its name would be blank: set rootPath to a folder above it';
  if (/\p{Cc}/u.test(name)) return 'its name would contain control characters: rename the folder';
  return name.length > longestName
    ? `its name would have more than ${longestName} characters: set rootPath to a folder below ${name.slice(0, 20)}…`
    : null;
}

function nameOfFolder(folder: string): string {
  return folder || 'the root of the repository';
}

function placementOf(folder: string, rule: PlacementRule, index: ProjectIndex): Placement {
  const { rootPath, repository } = rule;
  const below = pathBelow(folder, rootPath);
  if (below === null) return { reason: `${nameOfFolder(folder)} is not below rootPath ${rootPath}` };
  const segments = below === '' ? [nameOfRepository(rootPath || repository)] : below.split('/');
  const { projectId, rest } =
    rule.environmentPlacement === 'topProject'
      ? { projectId: rule.projectId, rest: segments }
      : walk(rule.projectId, segments, index);
  const entersNone = rule.environmentPlacement === 'existingSubProject' && projectId === rule.projectId;
  if (entersNone && segments.length > 1)
    return {
      reason: `the project has no sub-project "${segments[0]}": create it for ${folder}, or set environmentPlacement to topProject`,
    };
  const name = rest.join('/');
  const problem = problemOfName(name);
  if (problem !== null) return { reason: `${nameOfFolder(folder)}: ${problem}` };
  const workspaceName = rule.workspaceNaming === 'default' ? 'default' : workspaceNameFrom(name);
  return { projectId, name, workspaceName };
}

/** Marks two environments as the same one, and says why only the first one is created. */
interface PlaceClaim {
  readonly key: string;
  readonly reason: (first: string) => string;
}

function claimsOf({ projectId, name, workspaceName }: PlacedEnvironment, rule: PlacementRule): PlaceClaim[] {
  const byName: PlaceClaim = {
    key: JSON.stringify(['name', projectId, name.toLowerCase()]),
    reason: (first) => `the environment of ${first} gets the same name ${name}: rename one of the folders`,
  };
  const byWorkspace: PlaceClaim = {
    key: JSON.stringify(['workspace', workspaceName.toLowerCase()]),
    reason: (first) =>
      `the environment of ${first} gets the same workspace ${workspaceName}: rename one of the folders, or set workspaceNaming to default`,
  };
  return rule.workspaceNaming === 'environmentName' ? [byName, byWorkspace] : [byName];
}

/**
 * Places the environments of folders. A name in a project, and a workspace that is derived from a name, belongs to the
 * first folder that gets it, regardless of upper and lower case, as on many file systems.
 * @param folders with a matching file, in their order; '' is the root of the repository
 * @param projects everything below the project of the rule
 * @param existing environments of folders, which keep their names and workspaces
 */
export function placementsOf(
  folders: readonly string[],
  rule: PlacementRule,
  projects: readonly SubProject[],
  existing: ReadonlyMap<string, PlacedEnvironment> = new Map(),
): ReadonlyMap<string, Placement> {
  const index = new Map(projects.map(({ id, parentId, name }) => [keyOf(parentId, name), id]));
  const firsts = new Map(
    [...existing].flatMap(([folder, placed]) => claimsOf(placed, rule).map(({ key }) => [key, folder])),
  );
  const settle = (folder: string): Placement => {
    const placement = placementOf(folder, rule, index);
    if ('reason' in placement) return placement;
    const claims = claimsOf(placement, rule);
    const taken = claims.find(({ key }) => (firsts.get(key) ?? folder) !== folder);
    if (taken !== undefined) return { reason: taken.reason(nameOfFolder(firsts.get(taken.key) ?? '')) };
    for (const { key } of claims) firsts.set(key, folder);
    return placement;
  };
  return new Map(folders.map((folder) => [folder, settle(folder)]));
}
