/** Files of the repository, whose content goes to AWS and into messages. */
import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { StackProblem } from './api.ts';
import { requestFile } from './reports.ts';

/** AWS takes no larger templates, and files of parameters are never larger. */
const longestBytes = 1_000_000;

function isWithin(found: string, folder: string): boolean {
  return found === folder || found.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

const rootOfRun = () => process.env['ENVARIUM_ROOT_DIR'] || process.cwd();

/** The folder in which the run keeps its own files, secrets included, without links; null if there is none. */
export function folderOfRun(): string | null {
  const folder = dirname(requestFile);
  return statSync(folder, { throwIfNoEntry: false }) === undefined ? null : realpathSync(folder);
}

/** Whether a file belongs to the run or to git. @param real its path without links */
function isOfRunOrGit(real: string, root: string): boolean {
  const own = folderOfRun();
  return (own !== null && isWithin(real, own)) || relative(root, real).split(sep).includes('.git');
}

/**
 * @param file relative to the configuration's folder, in which the program was started
 * @param root of the repository
 * @returns null if it does not exist
 * @throws StackProblem for a path or a link out of the repository, or to files of the run or of git
 */
export function expectCode(file: string, root: string = rootOfRun()): Stats | null {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  // Whatever links it consists of.
  const real = realpathSync(file);
  const border = realpathSync(root);
  if (!isWithin(real, border))
    throw new StackProblem(
      `${file} leads out of the repository: ${isWithin(resolve(file), resolve(root)) ? 'replace the link by the file' : 'correct the path'}`,
    );
  if (isOfRunOrGit(real, border))
    throw new StackProblem(`${file} belongs to git or to the run, and not to the code: correct the path`);
  return stats;
}

/**
 * @returns the text of a file; null if it does not exist
 * @throws StackProblem as `expectCode`, and for anything but a file of at most 1 MB
 */
export function readCode(file: string, root: string = rootOfRun()): string | null {
  const stats = expectCode(file, root);
  if (stats === null) return null;
  if (!stats.isFile()) throw new StackProblem(`${file} must be a file`);
  if (stats.size > longestBytes)
    throw new StackProblem(
      `${file} has ${stats.size} bytes, and CloudFormation takes templates of at most ${longestBytes}: divide it into nested stacks or several environments`,
    );
  return readFileSync(file, 'utf8');
}
