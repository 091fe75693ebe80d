/** Code of the new environment with its tool, from a template or as it was typed. */
import type { Template } from '#contract/templates/shapes.ts';
import { accessOf, type SourceValues, sourceOf } from '../../../forms/source/source-values.ts';
import type { Draft } from './draft.ts';

/** The source settings that count; undefined: no template was chosen. */
export function codeOf(draft: Draft, template: Template | undefined): SourceValues | undefined {
  if (draft.from === 'repository') return draft.source;
  if (template === undefined) return undefined;
  const source = sourceOf(template);
  const revision = draft.templateRevision.trim();
  return revision === '' ? source : { ...source, revision };
}

/** Tools whose variables the service finds in the code. */
const readable = ['terraform', 'opentofu', 'terragrunt', 'helm', 'cloudformation', 'pulumi', 'ansible'];

/** Whether there is code that variables can be read from. */
export function hasDefinitions(code: SourceValues | undefined): code is SourceValues {
  return (
    code !== undefined &&
    readable.includes(code.type) &&
    code.repository.trim() !== '' &&
    !code.isHelmRepository
  );
}

/** The parameters with which the variables of the code are read. */
export function definitionsQuery(code: SourceValues, projectId: string, organizationId: string) {
  const { type, revision, path, fileName } = code;
  return {
    ...accessOf(code, projectId, organizationId),
    type: type as Exclude<typeof type, 'workflow'>,
    ...(revision.trim() === '' ? {} : { revision: revision.trim() }),
    ...(path.trim() === '' ? {} : { path: path.trim() }),
    ...(type === 'cloudformation' && fileName.trim() !== '' ? { fileName: fileName.trim() } : {}),
  };
}

/** `repository@revision:path`, with words for missing parts. */
export function placeOfCode({
  repository,
  revision,
  path,
  isHelmRepository,
  helmChartName,
}: SourceValues): string {
  if (isHelmRepository) return `${repository} ${helmChartName}${revision === '' ? '' : ` ${revision}`}`;
  return `${repository}@${revision === '' ? 'default branch' : revision}${path === '' ? '' : `:${path}`}`;
}
