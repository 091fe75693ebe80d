/** Programs that a test needs, looked up on the PATH. */
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/**
 * @returns the path of a program, or null where the machine has none: the test is then skipped with that
 * reason
 */
export async function findProgram(name: string): Promise<string | null> {
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, name);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return null;
}

/** The path of terraform, or null. */
export const terraform = await findProgram('terraform');
/** Reason to skip tests that need it, or false. */
export const withoutTerraform: string | false = terraform === null && 'terraform is not on the PATH';
