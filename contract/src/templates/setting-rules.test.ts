import assert from 'node:assert/strict';
import { test } from 'node:test';
import { creatableTemplateTypes } from '../schema/enumerations.ts';
import { toolVersionRequestFields } from '../sources/shapes.ts';
import { namespaceRefusal, sharedRefusal, typeRefusal } from './setting-rules.ts';

type Settings = Parameters<typeof typeRefusal>[0];

const refusedField = (settings: Settings) => typeRefusal(settings)?.field ?? null;

test('a stack needs its file, and no other type has one', () => {
  assert.equal(refusedField({ type: 'cloudformation' }), 'fileName');
  assert.equal(refusedField({ type: 'cloudformation', fileName: 'stack.yaml' }), null);
  for (const type of creatableTemplateTypes.filter((each) => each !== 'cloudformation'))
    assert.equal(refusedField({ type, fileName: 'stack.yaml' }), 'fileName', type);
});

test('a chart and a Helm repository come together, and only with helm', () => {
  assert.equal(refusedField({ type: 'helm' }), null);
  assert.equal(refusedField({ type: 'helm', isHelmRepository: false }), null);
  assert.equal(refusedField({ type: 'helm', isHelmRepository: true }), 'helmChartName');
  assert.equal(refusedField({ type: 'helm', helmChartName: 'web' }), 'isHelmRepository');
  assert.equal(refusedField({ type: 'helm', helmChartName: 'web', isHelmRepository: true }), null);
  assert.equal(refusedField({ type: 'k8s', helmChartName: 'web' }), 'helmChartName');
  assert.equal(refusedField({ type: 'k8s', isHelmRepository: true }), 'isHelmRepository');
  assert.equal(refusedField({ type: 'k8s', isHelmRepository: false, helmChartName: '' }), null);
});

test('versions that are too old are refused, and words are not versions', () => {
  assert.equal(refusedField({ type: 'ansible', ansibleVersion: '2.9.27' }), 'ansibleVersion');
  assert.equal(refusedField({ type: 'ansible', ansibleVersion: '3.0.0' }), null);
  assert.equal(refusedField({ type: 'ansible', ansibleVersion: 'latest' }), null);
  const runAll = (terragruntVersion?: string) =>
    refusedField({ type: 'terragrunt', isTerragruntRunAll: true, terragruntVersion });
  assert.equal(runAll('0.28.0'), 'isTerragruntRunAll');
  assert.equal(runAll('0.28.1'), null);
  assert.equal(runAll('latest'), null);
  assert.equal(refusedField({ type: 'terraform', isTerragruntRunAll: true }), 'isTerragruntRunAll');
  assert.equal(refusedField({ type: 'terraform', isTerragruntRunAll: false }), null);
});

test('only terragrunt runs one of two other tools', () => {
  assert.equal(refusedField({ type: 'terragrunt', terragruntTfBinary: 'terraform' }), null);
  assert.equal(refusedField({ type: 'opentofu', terragruntTfBinary: 'opentofu' }), 'terragruntTfBinary');
});

test('a repository is on one git host, read in one way', () => {
  assert.equal(refusedField({ type: 'terraform', isGitLab: true, isAzureDevOps: false }), null);
  assert.equal(refusedField({ type: 'terraform', isGitLab: true, isAzureDevOps: true }), 'isAzureDevOps');
  const both = { githubInstallationId: 7, vcsConnectionId: 'c' };
  assert.equal(refusedField({ type: 'terraform', ...both }), 'vcsConnectionId');
  assert.equal(refusedField({ type: 'terraform', githubInstallationId: 7 }), null);
});

test('shared templates name their version where the tool needs one, and at most one key', () => {
  const field = (settings: Settings) => sharedRefusal(settings)?.field ?? null;
  assert.equal(field({ type: 'opentofu' }), 'opentofuVersion');
  assert.equal(field({ type: 'opentofu', opentofuVersion: 'RESOLVE_FROM_CODE' }), null);
  assert.equal(field({ type: 'terragrunt', opentofuVersion: '1.8.0' }), 'terragruntVersion');
  assert.equal(field({ type: 'ansible' }), 'ansibleVersion');
  const words = /^is required with type \w+: (.*)$/;
  for (const type of ['opentofu', 'terragrunt', 'ansible'] as const) {
    const { field: name, reason } = sharedRefusal({ type })!;
    const { pattern } = toolVersionRequestFields[name as keyof typeof toolVersionRequestFields] as {
      readonly pattern?: string;
    };
    for (const word of words
      .exec(reason)?.[1]
      ?.split(/, | or /)
      .slice(1) ?? [])
      assert.match(word, new RegExp(pattern ?? ''), `${name} accepts what its refusal asks for`);
  }
  assert.equal(field({ type: 'terraform' }), null);
  assert.equal(field({ type: 'pulumi' }), null);
  assert.equal(field({ type: 'terraform', sshKeys: [{ id: 'a' }] }), null);
  assert.equal(field({ type: 'terraform', sshKeys: [{ id: 'a' }, { id: 'b' }] }), 'sshKeys');
});

test('a namespace has the name that a cluster takes', () => {
  for (const name of ['a', 'team-a', '0', 'a'.repeat(63)]) assert.equal(namespaceRefusal(name), null, name);
  for (const name of ['', '-a', 'a-', 'A', 'a.b', 'a'.repeat(64)])
    assert.match(namespaceRefusal(name)!, /^must be the name of a namespace/, name);
});
