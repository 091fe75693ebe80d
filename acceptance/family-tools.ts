/** terraform and OpenTofu, for stories that both of them live through and for those of one of them. */
import { pathWith, toolboxProgram, withToolbox } from '../tools/toolbox/places.ts';
import { terraform, withoutTerraform } from './programs.ts';

/** A tool of the terraform family, for the stories that all of them live through. */
export interface FamilyTool {
  readonly type: 'terraform' | 'opentofu';
  readonly program: string;
  /** Absolute path of the program, empty where there is none. */
  readonly file: string;
  /** Prefix of its steps. */
  readonly steps: string;
  /** A PATH on which it is found. */
  readonly path: string;
  /** Why its stories are left out. */
  readonly skip: string | false;
}

export async function toolsOfFamily(): Promise<FamilyTool[]> {
  const path = process.env.PATH ?? '';
  const tofu = toolboxProgram('opentofu');
  return [
    {
      type: 'terraform',
      program: 'terraform',
      file: terraform ?? '',
      steps: 'tf',
      path,
      skip: withoutTerraform,
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

/**
 * Stories that one tool lives through, and why the other one need not. Both run the journey (`journey/`) and every
 * command of their drivers (`agent/src/drivers/terraform/family.test.ts`), which is where they differ.
 */
const ofOneTool = {
  lifecycle: 'what the service does with reports of a driver: those of both have one form',
  'outputs as inputs': 'the service passes outputs as files of variables, which one code writes for both',
  'variables of runs': 'one code of both drivers checks the variables and makes arguments of them',
  'state over http':
    'how the service answers locks that are left or meet a deployment; both tools write and lock',
} as const;

/** The tool of such a story: terraform unless it is missing. */
export async function toolOf(_story: keyof typeof ofOneTool): Promise<FamilyTool> {
  const family = await toolsOfFamily();
  const tool = family.find(({ skip }) => skip === false) ?? family[0];
  if (!tool) throw new Error('The family has no tools');
  return tool;
}
