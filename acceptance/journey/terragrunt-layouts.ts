/** Journeys of Terragrunt: with one unit and terraform, or with all units of a folder and OpenTofu. */
import { pathWith, toolboxProgram, withToolbox } from '../../tools/toolbox/places.ts';
import { type FamilyTool, toolsOfFamily } from '../family-tools.ts';
import { arriveWith, declarations, type Layout, pages, settingsWith } from './terraform-family.ts';
import type { Traveller } from './traveller.ts';

const family = await toolsOfFamily();
const needs = withToolbox('terragrunt', 'opentofu', 'provider-local');

const path = pathWith(toolboxProgram('terragrunt'), ...family.map(({ file }) => file || null));

/** All in one unit. */
export const single: Layout = {
  hasUnits: false,
  files: { 'terragrunt.hcl': '', 'main.tf': `${declarations}${pages}` },
};

/** Three units, of which two have nothing yet; both need the first one. */
export const all: Layout = {
  hasUnits: true,
  files: {
    'site/terragrunt.hcl': '',
    'site/main.tf': `${declarations}${pages}`,
    ...Object.fromEntries(
      ['waiting', 'more'].flatMap((name) => [
        [`${name}/terragrunt.hcl`, 'dependencies {\n  paths = ["../site"]\n}\n'],
        [`${name}/main.tf`, declarations],
      ]),
    ),
  },
};

/** @param binary what Terragrunt runs */
export function traveller(manner: string, layout: Layout, binary: FamilyTool['type']): Traveller {
  const tool = family.find(({ type }) => type === binary);
  const request = {
    terragruntVersion: '1.1.3',
    terragruntTfBinary: binary,
    isTerragruntRunAll: layout.hasUnits,
  };
  return {
    type: 'terragrunt',
    manner,
    needs: { skip: needs.skip || (tool?.skip ?? false) },
    settings: settingsWith(path),
    arrive: (_t, folder) => arriveWith({ ...layout, request }, folder),
  };
}
