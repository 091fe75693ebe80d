/** Files of the repository, whose content goes to AWS and into messages. */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import { StackProblem } from './api.ts';

/** AWS takes no larger templates, and nobody writes larger files of parameters. */
const longestBytes = 1_000_000;

/** Whether a path leads into the repository, whatever links it consists of. */
function isCode(file: string, root: string): boolean {
  const [found, folder] = [realpathSync(file), realpathSync(root)];
  return found.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/**
 * @param file relative to the configuration's folder, in which the program was started
 * @param root of the repository
 * @returns its text; null if it does not exist
 * @throws StackProblem for a link out of the repository, and for anything but a file of at most 1 MB
 */
export function readCode(
  file: string,
  root: string = process.env['ENVARIUM_ROOT_DIR'] || process.cwd(),
): string | null {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  if (!isCode(file, root))
    throw new StackProblem(`${file} leads out of the repository: replace the link by the file`);
  if (!stats.isFile()) throw new StackProblem(`${file} must be a file`);
  if (stats.size > longestBytes)
    throw new StackProblem(
      `${file} has ${stats.size} bytes, and CloudFormation takes templates of at most ${longestBytes}: divide it into nested stacks or several environments`,
    );
  return readFileSync(file, 'utf8');
}
