/** Finding programs on the PATH and asking them for their version, once per file. */
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const versionTimeoutMilliseconds = 20_000;

/**
 * @param name a program's name, without a slash
 * @param path folders as in PATH; relative ones do not count
 * @returns the absolute path of the first file of that name that may be executed, null if there is none
 */
export async function findProgram(name: string, path: string = process.env.PATH ?? ''): Promise<string | null> {
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const file = join(folder, name);
    if (await isExecutable(file)) return file;
  }
  return null;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/** How a program tells its version. */
export interface VersionCommand {
  readonly args: readonly string[];
  read(output: string): string;
}

const knownVersions = new Map<string, Promise<string>>();

/**
 * A program's version; the program is started once for each file and time of its change.
 * @throws an Error that names the program when it cannot be started or says nothing that can be read
 */
export async function programVersion(file: string, command: VersionCommand): Promise<string> {
  const real = await realpath(file);
  const { mtimeMs, size } = await stat(real);
  const key = JSON.stringify([real, mtimeMs, size]);
  const known = knownVersions.get(key) ?? askVersion(real, command);
  knownVersions.set(key, known);
  // What failed once (out of memory, say) may succeed the next time.
  known.catch(() => knownVersions.delete(key));
  return known;
}

async function askVersion(file: string, command: VersionCommand): Promise<string> {
  try {
    const { stdout } = await run(file, [...command.args], { env: { CHECKPOINT_DISABLE: '1', HOME: '/nonexistent' }, cwd: '/', timeout: versionTimeoutMilliseconds, maxBuffer: 1024 * 1024 });
    return command.read(stdout);
  } catch (error) {
    throw new Error(`${file} does not tell its version: ${(error as Error).message}`, { cause: error });
  }
}
