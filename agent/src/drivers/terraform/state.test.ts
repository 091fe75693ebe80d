import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { TornState } from '../interface/driver.ts';
import { readTerraformState } from './state.ts';

const recorded = await readFile(join(import.meta.dirname, '__fixtures__/created-1.11.4.tfstate'));
const changed = (change: (state: Record<string, unknown>) => void): Buffer => {
  const state = JSON.parse(recorded.toString()) as Record<string, unknown>;
  change(state);
  return Buffer.from(JSON.stringify(state));
};

describe('a state file', () => {
  it('gives outputs with value, type and sensitivity, and one row for each instance', () => {
    const state = readTerraformState(recorded);
    assert.deepEqual(state.outputs['password'], { value: 'correct horse', type: 'string', sensitive: true });
    assert.deepEqual(
      state.resources.filter((row) => row.name.startsWith('gone')).map((row) => row.name),
      ['gone[0]', 'gone[1]'],
    );
    assert.deepEqual(state.resources.at(-1), {
      provider: 'terraform',
      type: 'terraform_data',
      name: 'subnet["x.y[0]"]',
      moduleName: 'module.vpc["i.1"]',
    });
    assert.ok(state.serial > 0 && /^[0-9a-f-]{36}$/.test(state.lineage));
  });

  it('has a hash of its content, regardless of who wrote it and when', () => {
    const { hash } = readTerraformState(recorded);
    const rewritten = changed((state) =>
      Object.assign(state, { serial: 99, lineage: 'other', terraform_version: '1.12.0', check_results: [] }),
    );
    assert.equal(readTerraformState(rewritten).hash, hash);
    const edited = changed((state) => Object.assign(state, { outputs: {} }));
    assert.notEqual(readTerraformState(edited).hash, hash);
    assert.match(hash, /^[0-9a-f]{64}$/);
  });

  it('counts a deposed object, which still exists', () => {
    const bytes = changed((state) => {
      const [first] = state['resources'] as { instances: object[] }[];
      first!.instances.push({ deposed: 'b01812e3', attributes: {} });
    });
    assert.equal(readTerraformState(bytes).resourceCount, 13);
  });

  it('is torn when it is empty or ends too early, wherever it was cut', () => {
    for (let end = 0; end < recorded.length - 2; end += 97)
      assert.throws(() => readTerraformState(recorded.subarray(0, end)), TornState);
    for (const text of ['null', '1', '{}', '{"version":4}', '\xff'])
      assert.throws(() => readTerraformState(Buffer.from(text, 'latin1')), TornState);
  });

  it('of another format is refused by name', () => {
    assert.throws(
      () => readTerraformState(Buffer.from('{"version":3,"serial":1,"lineage":"x"}')),
      /format 3/,
    );
  });

  it('without resources and outputs is empty', () => {
    const state = readTerraformState(
      Buffer.from(
        '{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"x","outputs":{},"resources":[],"check_results":null}',
      ),
    );
    assert.deepEqual([state.resourceCount, state.resources, state.outputs], [0, [], {}]);
  });
});
