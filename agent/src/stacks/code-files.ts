/** Files of the repository, whose content goes to AWS and into messages. */
import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { StackProblem } from './api.ts';

/** AWS takes no larger templates, and nobody writes larger files of parameters. */
const longestBytes = 1_000_000;

function isWithin(found: string, folder: string): boolean {
  return found === folder || found.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

const rootOfRun = () => process.env['ENVARIUM_ROOT_DIR'] || process.cwd();

/**
 * @param file relative to the configuration's folder, in which the program was started
 * @param root of the repository
 * @returns null if it does not exist
 * @throws StackProblem for a path or a link out of the repository
 */
export function expectCode(file: string, root: string = rootOfRun()): Stats | null {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  // Whatever links it consists of.
  if (!isWithin(realpathSync(file), realpathSync(root)))
    throw new StackProblem(
      `${file} leads out of the repository: ${isWithin(resolve(file), resolve(root)) ? 'replace the link by the file' : 'correct the path'}`,
    );
  return stats;
}

/**
 * @returns the text of a file; null if it does not exist
 * @throws StackProblem for a path or a link out of the repository, and for anything but a file of at most 1 MB
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
