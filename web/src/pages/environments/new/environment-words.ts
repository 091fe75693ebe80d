/** The command that creates the same environment. Values of sensitive variables are left out. Pure. */
import type { VariableChange } from '#contract/variables/shapes.ts';
import { sourceWords } from '../../../forms/source/source-words.ts';
import type { Draft } from './draft.ts';

function variableWords({ name = '', type = 0, value = '', isSensitive, schema }: VariableChange): string[] {
  if (isSensitive)
    return type === 1 ? ['--sensitive', `${name}=@file`] : ['--env', `${name}=@file`, '--sensitive', name];
  const argument = `${name}=${value.startsWith('@') ? `@${value}` : value}`;
  if (type === 0) return ['--env', argument];
  if (schema?.format === 'HCL') return ['--hcl-var', argument];
  if (schema?.format === 'JSON') return ['--json-var', argument];
  return ['--var', argument];
}

function lifetimeWords({ lifetime, hours, date }: Draft): string[] {
  if (lifetime === 'default') return [];
  const time = new Date(date);
  if (lifetime === 'date') return ['--ttl', Number.isNaN(time.getTime()) ? date : time.toISOString()];
  return ['--ttl', lifetime === 'infinite' ? 'infinite' : `${hours}h`];
}

function approvalWords({ requiresApproval }: Draft): string[] {
  if (requiresApproval === null) return [];
  return [requiresApproval ? '--require-approval' : '--no-require-approval'];
}

/** @param type of the tool */
export function commandWords(draft: Draft, type: string, changes: readonly VariableChange[]): string[] {
  const flags: readonly (readonly [string, string])[] = [
    ['--project', draft.projectId],
    ['--template', draft.from === 'template' ? draft.templateId : ''],
    ['--revision', draft.from === 'template' ? draft.templateRevision : ''],
    ['--description', draft.description],
    ['--workspace', draft.workspaceName],
    ['--namespace', ['k8s', 'helm'].includes(type) ? draft.k8sNamespace : ''],
    ['--working-directory', type === 'terragrunt' ? draft.terragruntWorkingDirectory : ''],
    ['--drift-cron', draft.driftCron],
    ['--comment', draft.comment],
  ];
  return [
    'environment',
    'create',
    draft.name.trim() === '' ? 'NAME' : draft.name.trim(),
    ...flags.flatMap(([flag, value]) => (value.trim() === '' ? [] : [flag, value.trim()])),
    ...(draft.from === 'repository' ? sourceWords(draft.source) : []),
    ...approvalWords(draft),
    ...lifetimeWords(draft),
    ...draft.tags.flatMap((tag) => ['--tag', tag]),
    ...(draft.isRemoteBackend ? ['--remote-backend'] : []),
    ...(draft.isDeployed ? [] : ['--no-deploy']),
    ...changes.flatMap(variableWords),
  ];
}
