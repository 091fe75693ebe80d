/** The settings of a template. Without schemas, for the start of the command line. */
import { codeSettingNames } from '../sources/setting-names.ts';
import type { TemplateRequest } from './template-body.ts';

export const templateSettingNames = [
  'revision',
  ...codeSettingNames,
  'runTestsOnPullRequest',
  'isTerragruntRunAll',
  'tagPrefix',
] as const satisfies readonly (keyof TemplateRequest)[];
