import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Discovery } from '#contract/discovery/shapes.ts';
import {
  discoveryBody,
  discoveryErrors,
  discoveryField,
  discoveryValues,
  emptyDiscovery,
} from './discovery-values.ts';

const stored: Discovery = {
  id: 't1',
  projectId: 'p1',
  organizationId: 'o1',
  name: 'discovery-of-Shop',
  repository: 'https://git.example.com/live.git',
  revision: 'release',
  type: 'terragrunt',
  globPattern: 'prod/**/terragrunt.hcl',
  environmentPlacement: 'existingSubProject',
  rootPath: 'prod',
  workspaceNaming: 'environmentName',
  autoDeployByCustomGlob: 'shared/**',
  createNewEnvironmentsFromPullRequests: true,
  terragruntVersion: '0.77.22',
  opentofuVersion: '1.10.6',
  terragruntTfBinary: 'opentofu',
  isTerragruntRunAll: true,
  githubInstallationId: 1234,
  description: 'live environments',
  isGitLab: true,
  tokenId: 'g1',
  sshKeys: [{ id: 's1', name: 'deploy' }],
  retry: { onDeploy: { times: 2, errorRegex: 'timeout' } },
  onRemoval: 'archive',
  removalLimitPercent: 50,
  author: { name: 'Ada' } as never,
  createdAt: '2030-01-05T06:00:00.000Z',
};

test('what is not edited is sent back as it was, including settings that the form does not have', () => {
  const { id, projectId, organizationId, name, author, createdAt, sshKeys, ...settings } = stored;
  assert.deepEqual(discoveryBody(discoveryValues(stored), stored), { ...settings, sshKeys: [{ id: 's1' }] });
});

test('discovery files send nothing of a glob', () => {
  const values = { ...discoveryValues(stored), kind: 'files', repositoryRegex: ' acme/.* ' } as const;
  const body = discoveryBody(values, stored);
  assert.deepEqual(body.discoveryFileConfiguration, { repositoryRegex: 'acme/.*' });
  for (const name of [
    'repository',
    'globPattern',
    'rootPath',
    'environmentPlacement',
    'autoDeployByCustomGlob',
  ])
    assert.ok(!(name in body), name);
});

test('a configuration of discovery files is shown, although it has neither repository nor tool', () => {
  const files = {
    ...stored,
    type: null as never,
    repository: '',
    discoveryFileConfiguration: { repositoryRegex: 'a' },
  };
  const values = discoveryValues(files);
  assert.equal(values.kind, 'files');
  assert.equal(values.source.type, 'opentofu');
});

test('missing fields are found before the request', () => {
  assert.deepEqual(Object.keys(discoveryErrors(emptyDiscovery)), ['source.repository', 'globPattern']);
  assert.deepEqual(Object.keys(discoveryErrors({ ...emptyDiscovery, kind: 'files' })), ['repositoryRegex']);
  for (const removalLimitPercent of ['', 101, 2.5, 'many'])
    assert.ok('removalLimitPercent' in discoveryErrors({ ...discoveryValues(stored), removalLimitPercent }));
  assert.deepEqual(discoveryErrors(discoveryValues(stored)), {});
});

test('a limit that the form does not show holds nothing up, and is sent as its default', () => {
  const values = { ...discoveryValues(stored), removalLimitPercent: '' };
  const flagged = { ...values, onRemoval: 'flag' } as const;
  const inFiles = { ...values, kind: 'files', repositoryRegex: 'a' } as const;
  for (const hidden of [flagged, inFiles]) {
    assert.deepEqual(discoveryErrors(hidden), {});
    assert.equal(discoveryBody(hidden).removalLimitPercent, 20);
  }
});

test('refusals of the service appear at their fields', () => {
  for (const [field, shown] of [
    ['globPattern', 'globPattern'],
    ['repository', 'source.repository'],
    ['sshKeys.0.id', 'source.sshKeyId'],
    ['retry.onDeploy.errorRegex', 'onDeploy'],
    ['discoveryFileConfiguration.repositoryRegex', 'repositoryRegex'],
    ['description', undefined],
  ] as const)
    assert.equal(discoveryField(field), shown);
});
