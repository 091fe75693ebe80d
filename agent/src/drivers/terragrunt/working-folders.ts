/** The folders in which terragrunt has terraform or OpenTofu work: copies of the units, with their sources. */

const cache = '.terragrunt-cache';
/** Units that terragrunt has generated for a stack. */
const generated = '.terragrunt-stack';
/** File in which the tool notes what its init has set up. */
const dataFolder = '.terraform';
/** Far more than a repository of units has. */
const mostFolders = 20_000;
/** Of the path of a module below the root of its source. */
const mostLevels = 24;

type ListFolder = (folder: string) => Promise<string[]>;

export interface WorkingFolder {
  /** Path of the unit, `.` for the folder of the configuration. */
  readonly unit: string;
  /** Path from the configuration's folder. */
  readonly folder: string;
}

function join(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

function mayBeFolder(name: string): boolean {
  if (name === generated) return true;
  return !name.startsWith('.') && !/\.(tf|tofu|hcl|json|md|ya?ml|tpl|sh|tfvars|txt)$/.test(name);
}

/** Names below a folder; none if it is a file, or nothing. */
async function namesIn(list: ListFolder, folder: string): Promise<string[]> {
  return list(folder).catch(() => []);
}

/**
 * The folder in which the tool works for a unit.
 * @returns null if the tool has not been initialized for it
 */
export async function workingFolder(list: ListFolder, unit: string): Promise<string | null> {
  const root = unit === '.' ? cache : `${unit}/${cache}`;
  let open = [root];
  for (let level = 0; level < mostLevels && open.length > 0; level += 1) {
    const found = await Promise.all(
      open.map(async (folder) => ({ folder, names: await namesIn(list, folder) })),
    );
    const initialized = level === 0 ? undefined : found.find(({ names }) => names.includes(dataFolder));
    if (initialized !== undefined) return initialized.folder;
    open = found.flatMap(({ folder, names }) => names.filter(mayBeFolder).map((name) => join(folder, name)));
    if (open.length > mostFolders) return null;
  }
  return null;
}

/** The working folders of all units below the configuration's folder. */
export async function workingFolders(list: ListFolder): Promise<WorkingFolder[]> {
  const units: string[] = [];
  let open = [''];
  for (let count = 0; open.length > 0 && count < mostFolders; ) {
    const found = await Promise.all(
      open.map(async (folder) => ({ folder, names: await namesIn(list, folder) })),
    );
    count += found.length;
    for (const { folder, names } of found)
      if (names.includes(cache)) units.push(folder === '' ? '.' : folder);
    open = found.flatMap(({ folder, names }) => names.filter(mayBeFolder).map((name) => join(folder, name)));
  }
  const folders = await Promise.all(
    units.map(async (unit) => ({ unit, folder: await workingFolder(list, unit) })),
  );
  return folders.filter((each): each is WorkingFolder => each.folder !== null);
}
