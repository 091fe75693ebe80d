/** terraform and OpenTofu, for the stories that both of them live through. */
import { pathWith, toolboxProgram, withToolbox } from '../tools/toolbox/places.ts';
import { findProgram } from './programs.ts';

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
