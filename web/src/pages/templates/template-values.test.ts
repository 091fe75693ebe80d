import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Template } from '#contract/templates/shapes.ts';
import { sortTemplates, templatesMatching } from './find-templates.ts';
import { emptyTemplate, templateBody, templateErrors, templateField, valuesOf } from './template-values.ts';
import { templateCommand } from './template-words.ts';
import { usersText } from './users-text.ts';

const template = {
  name: 'network',
  type: 'terragrunt',
  repository: 'https://git.example/network',
  creationScope: 'ORGANIZATION',
  creationScopeId: 'o',
  organizationId: 'o',
  terragruntVersion: '1.1.3',
  terragruntTfBinary: 'terraform',
  terraformVersion: '1.5.7',
  isTerragruntRunAll: true,
  retry: { onDeploy: { times: 2, errorRegex: 'timeout' } },
  sshKeys: [{ id: 'k', name: 'key' }],
  projectIds: ['p'],
  githubInstallationId: 7,
  isGitLab: true,
} as unknown as Template;

test('a template that is sent back unchanged has all of its settings', () => {
  assert.deepEqual(templateBody(valuesOf(template), template), {
    name: 'network',
    type: 'terragrunt',
    repository: 'https://git.example/network',
    terragruntVersion: '1.1.3',
    terragruntTfBinary: 'terraform',
    terraformVersion: '1.5.7',
    isTerragruntRunAll: true,
    retry: { onDeploy: { times: 2, errorRegex: 'timeout' } },
    sshKeys: [{ id: 'k' }],
    projectIds: ['p'],
    githubInstallationId: 7,
    isGitLab: true,
  });
});

test('settings of another tool are not sent', () => {
  const values = valuesOf(template);
  const { isTerragruntRunAll, terragruntVersion, ...body } = templateBody({
    ...values,
    source: { ...values.source, type: 'terraform' },
  });
  assert.deepEqual([isTerragruntRunAll, terragruntVersion], [undefined, undefined]);
  assert.equal(body.terraformVersion, '1.5.7');
});

test('missing settings of a template are reported by field, as the service reports them', () => {
  assert.deepEqual(Object.keys(templateErrors(emptyTemplate)), ['name', 'source.repository']);
  const source = { ...emptyTemplate.source, repository: 'https://git.example/x', opentofuVersion: '' };
  const wrong = templateErrors({ ...emptyTemplate, name: 'x', source: { ...source, type: 'opentofu' } });
  assert.match(wrong['source.opentofuVersion'] ?? '', /is required with type opentofu/);
});

test('a refusal is shown at its field', () => {
  assert.deepEqual(['name', 'retry.onDestroy.times', 'path', 'sshKeys', 'other'].map(templateField), [
    'name',
    'onDestroy',
    'source.path',
    'source.sshKeyId',
    undefined,
  ]);
});

test('the command line does the same', () => {
  assert.deepEqual(templateCommand({ ...emptyTemplate, name: 'a b', projectIds: ['p'] }), [
    ...['templates', 'create', 'a b', '--type', 'terraform', '--project', 'p'],
  ]);
});

test('templates are found by text and tool, and sorted by name whatever the address says', () => {
  const all = ['b10', 'B9', 'a'].map((name) => ({ ...template, name }));
  const names = (found: readonly Template[]) => found.map(({ name }) => name);
  assert.deepEqual(names(sortTemplates(all, 'nonsense' as 'name')), ['a', 'B9', 'b10']);
  assert.deepEqual(names(sortTemplates(all, '-name')), ['b10', 'B9', 'a']);
  assert.deepEqual(names(templatesMatching(all, ' B', 'terragrunt')), ['b10', 'B9']);
  assert.deepEqual(names(templatesMatching(all, '', 'helm')), []);
});

test('users are named, and the others counted', () => {
  assert.equal(usersText([], 0), undefined);
  assert.equal(usersText(['a'], 1), 'Used by a. Switch or delete it first.');
  assert.equal(usersText(['a', 'b'], 5, 'Unassign'), 'Used by a, b and 3 more. Unassign them first.');
});
