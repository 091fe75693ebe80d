/** Many runs at once that all need what the cache does not have yet. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { startProviderRegistry } from '../../testing/provider-registry.ts';
import { createSetup, withBubblewrap, withTerraform } from '../../testing/runner-setup.ts';

const code = {
  'main.tf':
    'terraform {\n  required_providers {\n    one = {\n      source = "acme/one"\n    }\n    two = {\n      source = "acme/two"\n    }\n  }\n}\nresource "terraform_data" "one" {}\n',
};

test('twenty concurrent inits download each provider once, as root', withTerraform, (t) => twenty(t, {}));
test('twenty concurrent inits download each provider once, in bubblewrap', withBubblewrap, (t) =>
  twenty(t, { asOrdinaryUser: true }),
);

async function twenty(t: TestContext, options: { asOrdinaryUser?: boolean }): Promise<void> {
  await using registry = await startProviderRegistry([
    { name: 'acme/one', version: '1.2.0', content: randomBytes(5_000_000) },
    { name: 'acme/two', version: '0.1.0' },
  ]);
  const folder = temporaryFolder(t, 'provider-cache-');
  const operator = {
    rest: '',
    hosts: { 'registry.terraform.io': { 'providers.v1': registry.providers } },
    credentials: {},
    installation: null,
  };
  const order = { providers: { cache: { folder, limitBytes: 1e9 }, mirror: null, operator } };
  const setups = Array.from({ length: 20 }, () => createSetup(t, code, options));
  if (setups[0]?.isOrdinary) execFileSync('chown', ['-R', '65534:65534', folder]);
  const runs = await Promise.all(setups.map((setup) => setup.run(setup.job(), { order })));
  for (const ran of runs)
    assert.equal(ran.steps()['tf:init'], 'SUCCESS', ran.log('tf:init') + JSON.stringify(ran.outcome));
  assert.deepEqual([registry.downloads('acme/one'), registry.downloads('acme/two')], [1, 1]);
  for (const name of ['unfinished', 'readers']) assert.deepEqual(readdirSync(join(folder, name)), []);
}
