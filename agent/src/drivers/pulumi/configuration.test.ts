import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobOf, treeFrom } from '../../../testing/driver-job.ts';
import type { DriverContext } from '../interface/driver.ts';
import { configurationFiles } from './configuration.ts';

test('numbers that the code has committed keep their digits in the file of a run', async () => {
  const committed = `config:
  shop:large: 9223372036854775807
  shop:short: 1.10
  shop:zeros: 0.1000
  shop:huge: 1e400
  shop:long: 0.30000000000000000001
`;
  const job = jobOf({
    tool: 'pulumi',
    workspaceName: 'dev',
    variables: {
      environment: [],
      terraform: [{ name: 'own', value: '{"a": 1.10}', format: 'JSON', isSensitive: false }],
    },
  });
  const tree = treeFrom({ 'Pulumi.yaml': 'name: shop\nruntime: yaml\n', 'Pulumi.dev.yaml': committed });
  const files = await configurationFiles({ job, tree, stateFolder: null } as unknown as DriverContext);
  const written = files.find(({ name }) => name === 'Pulumi.dev.yaml')?.content;
  assert.equal(String(written), `${committed}  shop:own:\n    a: 1.10\n`);
});
