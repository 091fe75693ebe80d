/** Facts of OpenTofu. */
import { opentofu as program } from './programs/opentofu.ts';
import { familyFacts, familySteps } from './terraform-family.ts';
import type { ToolFacts } from './tool.ts';

export const opentofu: ToolFacts = {
  ...familyFacts,
  type: 'opentofu',
  label: 'OpenTofu',
  program,
  companions: [],
  version: { field: 'opentofuVersion', file: '.opentofu-version' },
  steps: familySteps('opentofu'),
};
