import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toolFields } from './tool-flags.ts';

test('only what was specified is sent, and an empty text clears a setting', () => {
  assert.deepEqual(toolFields({}), {});
  assert.deepEqual(toolFields({ runAll: true, fileName: 'stack.yaml' }), {
    isTerragruntRunAll: true,
    fileName: 'stack.yaml',
  });
  assert.deepEqual(toolFields({ runAll: false, helmChart: '' }), {
    isTerragruntRunAll: false,
    helmChartName: '',
    isHelmRepository: false,
  });
});

test('the version of what terragrunt runs is that of the tool which is chosen, was chosen, or is the default', () => {
  const version = { terragruntBinaryVersion: '1.9.8' };
  assert.deepEqual(toolFields(version), { opentofuVersion: '1.9.8' });
  assert.deepEqual(toolFields(version, 'terraform'), { terraformVersion: '1.9.8' });
  assert.deepEqual(toolFields({ ...version, terragruntBinary: 'terraform' }), {
    terragruntTfBinary: 'terraform',
    terraformVersion: '1.9.8',
  });
});
