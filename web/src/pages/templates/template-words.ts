/** Commands of the command line for templates. */
import { sourceWords } from '../../forms/source/source-words.ts';
import type { TemplateValues } from './template-values.ts';

function retryWords({ onDeploy, onDestroy }: TemplateValues): string[] {
  const regex = onDeploy.errorRegex || onDestroy.errorRegex;
  return [
    ...(onDeploy.times > 0 ? ['--retry-deploy', String(onDeploy.times)] : []),
    ...(onDestroy.times > 0 ? ['--retry-destroy', String(onDestroy.times)] : []),
    ...(regex === '' ? [] : ['--retry-regex', regex]),
  ];
}

/** `templates create NAME …`, or `templates edit ID …`. @param id of the template that is changed */
export function templateCommand(values: TemplateValues, id?: string): string[] {
  const name = values.name.trim() === '' ? 'NAME' : values.name.trim();
  return [
    'templates',
    ...(id === undefined ? ['create', name] : ['edit', id, '--name', name]),
    ...sourceWords(values.source),
    ...(values.description.trim() === '' ? [] : ['--description', values.description.trim()]),
    ...retryWords(values),
    ...(id === undefined ? values.projectIds.flatMap((each) => ['--project', each]) : []),
    ...(id === undefined && values.homeId !== '' ? ['--in-project', values.homeId] : []),
  ];
}
