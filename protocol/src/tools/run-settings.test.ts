import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasUnits, runSettings } from './run-settings.ts';

const sources = {
  fileName: 'stack.yaml',
  terragruntTfBinary: 'terraform',
  isTerragruntRunAll: true,
  terraformVersion: '1.9.8',
  workingDirectory: 'live',
} as const;

test('runs get what their tool reads of the settings, and nothing else', () => {
  const { fileName, ...ofTerragrunt } = sources;
  assert.deepEqual(runSettings('terragrunt', sources), ofTerragrunt);
  assert.deepEqual(runSettings('cloudformation', sources), { fileName });
  assert.equal(runSettings('terraform', sources), null, 'its version is that of the job');
});

test('what is empty or false is not set', () => {
  const empty = { isTerragruntRunAll: false, terraformVersion: '', workingDirectory: '' };
  assert.equal(runSettings('terragrunt', empty), null);
  assert.equal(runSettings('terragrunt', {}), null);
});

test('only runs of all units have several', () => {
  assert.equal(hasUnits(runSettings('terragrunt', sources)), true);
  assert.equal(hasUnits(runSettings('terragrunt', { workingDirectory: 'live' })), false);
  assert.equal(hasUnits(null), false);
});
