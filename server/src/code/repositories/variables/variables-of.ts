/** The variables of a template's code, by its tool. */
import type { RepositoryVariable } from '#contract/repositories/shapes.ts';
import type { TemplateType } from '#contract/schema/enumerations.ts';
import { type DeclaredVariables, declaredVariables } from '#protocol/tools/declared-variables.ts';
import { blockVariables } from './block-variables.ts';
import { chartValues } from './chart-values.ts';
import { projectConfiguration } from './project-configuration.ts';
import { roleDefaults } from './role-defaults.ts';
import { type DeclaringCode, UnreadableCode } from './row.ts';
import { stackParameters } from './stack-parameters.ts';

/** Form of variables for people. */
const mostVariables = 2000;

function read(code: DeclaringCode, declared: DeclaredVariables): Promise<RepositoryVariable[]> {
  switch (declared.form) {
    case 'blocks':
      return blockVariables(code, declared);
    case 'chart values':
      return chartValues(code, declared);
    case 'stack parameters':
      return stackParameters(code, declared);
    case 'project configuration':
      return projectConfiguration(code, declared);
    case 'role defaults':
      return roleDefaults(code, declared);
  }
}

/**
 * @returns empty where the tool has no variables, or the code declares none
 * @throws UnreadableCode, or an UnreadableFile, that names the file
 */
export async function variablesOf(type: TemplateType, code: DeclaringCode): Promise<RepositoryVariable[]> {
  const declared = declaredVariables[type];
  const found = declared === undefined ? [] : await read(code, declared);
  if (found.length > mostVariables)
    throw new UnreadableCode(`it declares more than ${mostVariables} variables`);
  return found;
}
