/** Facts of terraform. */
import { terraform as program } from './programs/terraform.ts';
import { familyFacts, familySteps } from './terraform-family.ts';
import type { ToolFacts } from './tool.ts';

export const terraform: ToolFacts = {
  ...familyFacts,
  type: 'terraform',
  label: 'terraform',
  program,
  companions: [],
  version: { field: 'terraformVersion', file: '.terraform-version' },
  steps: familySteps('tf'),
};
