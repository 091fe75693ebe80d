/**
 * The data folder of one installation, and the place for what other uids must reach (the database's own
 * folder, tools, trees). The place is the data folder itself, except for root with a data folder that other
 * users cannot traverse to (below a home of mode 0700, say): then it is below /var/lib/envarium. The choice
 * is recorded once, so that a later change of some folder's mode does not make the service look for its
 * database elsewhere.
 */
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolders } from '#guards/make-folders.ts';

export interface DataFolder {
  /** The folder's real path. */
  readonly path: string;
  /** Random, made with the folder: names what belongs to it elsewhere on the machine. */
  readonly id: string;
  /**
   * A folder that other uids can traverse when the service runs as root; the data folder itself wherever
   * possible.
   */
  readonly place: string;
}

const isRoot = process.getuid?.() === 0;
const sharedRoot = '/var/lib/envarium';
const otherMayPass = 0o001;

/**
 * Opens the data folder, making it where it does not exist.
 * @param folder absolute path
 * @throws Error that names the folder, when it cannot be made, written or understood
 */
export function openDataFolder(folder: string): DataFolder {
  const isNew = makeFolder(folder);
  const path = realpathSync(folder);
  const record = join(path, 'installation.json');
  if (!existsSync(record)) {
    if (isRoot && (isNew || readdirSync(path).length === 0)) chmodSync(path, 0o711);
    const id = randomUUID();
    writeRecord(record, { id, placeOutside: isRoot && !canOthersReach(path) ? join(sharedRoot, id) : null });
  }
  const { id, placeOutside } = readRecord(record);
  if (placeOutside !== null) mkdirSync(placeOutside, { recursive: true, mode: 0o755 });
  return { path, id, place: placeOutside ?? path };
}

/** True when any user may traverse to and into the folder. */
function canOthersReach(folder: string): boolean {
  for (let current = realpathSync(folder); ; current = dirname(current)) {
    if ((statSync(current).mode & otherMayPass) === 0) return false;
    if (current === dirname(current)) return true;
  }
}

function makeFolder(folder: string): boolean {
  try {
    return makeFolders(folder, 0o700);
  } catch (error) {
    throw new Error(`The data folder ${folder} (ENVARIUM_DATA_DIR) cannot be created.`, {
      cause: error,
    });
  }
}

interface InstallationFile {
  readonly id: string;
  readonly placeOutside: string | null;
}

function readRecord(file: string): InstallationFile {
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as Partial<InstallationFile>;
    if (
      typeof value.id === 'string' &&
      (value.placeOutside === null || typeof value.placeOutside === 'string')
    ) {
      return { id: value.id, placeOutside: value.placeOutside };
    }
  } catch (error) {
    throw new Error(
      `${file} cannot be read; restore it from a backup. It records where the installation keeps its database.`,
      {
        cause: error,
      },
    );
  }
  throw new Error(
    `${file} contains no id and placeOutside; restore it from a backup. It records where the installation keeps its database.`,
  );
}

/** Linked into place: of two first starts at the same time, one decides. */
function writeRecord(file: string, value: InstallationFile): void {
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(value)}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(unfinished, file);
  } catch (error) {
    if (!existsSync(file)) throw error;
  } finally {
    rmSync(unfinished);
  }
}
