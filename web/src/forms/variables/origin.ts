/** Words for where a variable is from. Pure. */
import type { VariableScope } from '#contract/schema/enumerations.ts';
import type { VariableFormRow } from './rows.ts';

const scopeWords: Readonly<Record<VariableScope, string>> = {
  GLOBAL: 'organization',
  BLUEPRINT: 'template',
  SUB_ENVIRONMENT_BLUEPRINT: 'template of the workflow',
  PROJECT: 'project',
  WORKFLOW: 'workflow',
  ENVIRONMENT: 'environment',
  DEPLOYMENT: 'deployment',
  SET: 'configuration set',
};

/** The kind of place that a row is from. */
export function originWord({
  stored,
}: {
  readonly stored?: { readonly scope: VariableScope } | VariableFormRow['stored'];
}) {
  return stored === undefined ? 'code' : scopeWords[stored.scope];
}
