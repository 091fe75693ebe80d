/** Entity that the variables of each scope belong to. */
import type { VariableScope } from '#contract/schema/enumerations.ts';

/** As the audit trail names it. */
export const entityOfScope: Readonly<Record<VariableScope, string>> = {
  SET: 'configurationSet',
  GLOBAL: 'organization',
  BLUEPRINT: 'template',
  SUB_ENVIRONMENT_BLUEPRINT: 'template',
  PROJECT: 'project',
  WORKFLOW: 'environment',
  ENVIRONMENT: 'environment',
  DEPLOYMENT: 'deployment',
};

/** As people read it: `configuration set`. */
export function entityWords(scope: VariableScope): string {
  return entityOfScope[scope].replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
