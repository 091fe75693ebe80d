/** Programs that a test needs, looked up on the PATH. */
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { pathWith, toolboxProgram, withToolbox } from '../tools/toolbox/places.ts';

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

/** A tool of the terraform family, for the stories that all of them live through. */
export interface FamilyTool {
  readonly type: 'terraform' | 'opentofu';
  readonly program: string;
  /** Absolute path of the program, empty where there is none. */
  readonly file: string;
  /** What its steps begin with. */
  readonly steps: string;
  /** A PATH on which it is found. */
  readonly path: string;
  /** Why its stories are left out. */
  readonly skip: string | false;
}

export async function toolsOfFamily(): Promise<FamilyTool[]> {
  const path = process.env.PATH ?? '';
  const terraform = await findProgram('terraform');
  const tofu = toolboxProgram('opentofu');
  return [
    {
      type: 'terraform',
      program: 'terraform',
      file: terraform ?? '',
      steps: 'tf',
      path,
      skip: terraform ? false : 'terraform is not on the PATH',
    },
    {
      type: 'opentofu',
      program: 'tofu',
      file: tofu ?? '',
      steps: 'opentofu',
      path: pathWith(tofu),
      ...withToolbox('opentofu'),
    },
  ];
}
