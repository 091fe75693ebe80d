import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstThen } from '../../../testing/configurations.ts';
import { createSetup, withTerraform } from '../../../testing/runner-setup.ts';
import { drivers } from '../../drivers/index.ts';
import { collectorSettings } from './command-environment.ts';

const gigabyte = 1 << 30;
const lockFile = 'provider "registry.terraform.io/hashicorp/null" {\n  version = "3.2.4"\n}\n';

function settingsFor(
  command: Parameters<typeof collectorSettings>[2],
  configuration: { hasPlugins?: boolean; environment?: Record<string, string> } = {},
  memoryBytes = 8 * gigabyte,
) {
  const driver = drivers.terraform;
  const attempt = { driver, order: { runLimits: { memoryBytes } } } as Parameters<
    typeof collectorSettings
  >[0];
  return collectorSettings(attempt, { environment: {}, ...configuration }, command);
}

test('a tool that starts no plugins collects garbage later, up to half of the memory of its run', () => {
  const known = { GOGC: '400', GOMEMLIMIT: String(gigabyte) };
  assert.deepEqual(settingsFor({}, { hasPlugins: false }), known);
  assert.deepEqual(settingsFor({ installsProviders: true }), known);
  const small = settingsFor({}, { hasPlugins: false }, gigabyte / 4);
  assert.equal(small['GOMEMLIMIT'], String(gigabyte / 8));
});

test('a tool that starts plugins, or may start some, runs as by hand', () => {
  assert.deepEqual(settingsFor({}), {});
  assert.deepEqual(settingsFor({}, { hasPlugins: true }), {});
  const { hasPlugins } = drivers.opentofu.collector!;
  assert.deepEqual([hasPlugins(lockFile), hasPlugins('# nothing\n'), hasPlugins(null)], [true, false, false]);
});

for (const name of ['GOGC', 'GOMEMLIMIT'])
  test(`a run that sets ${name} itself determines both`, () =>
    assert.deepEqual(settingsFor({ installsProviders: true }, { environment: { [name]: '1' } }), {}));

test('the settings reach an apply, in the tree of its plan and elsewhere', withTerraform, async (t) => {
  const setup = createSetup(t, { 'main.tf': firstThen('shown', 'echo "collects at $GOGC"') });
  const planned = await setup.run(setup.job());
  const applied = await setup.run(setup.applyJob(planned));
  assert.match(applied.log('tf:apply'), /collects at 400/);
  const environment = [{ name: 'GOGC', value: '150', isSensitive: false }];
  const own = await setup.run(setup.job({ variables: { environment, terraform: [] } }));
  const again = await setup.run(setup.applyJob(own));
  assert.match(again.log('tf:apply'), /collects at 150/);
  const elsewhere = await setup.run(setup.applyJob(await setup.run(setup.job()), { onOtherMachine: true }));
  assert.match(elsewhere.log('tf:apply'), /collects at 400/);
});
