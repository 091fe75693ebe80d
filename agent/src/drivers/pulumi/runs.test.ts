/** Plans and applies with the real runner, the real Pulumi and a provider of files. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pulumiStage, withPulumi } from '../../testing/pulumi/pulumi-stage.ts';

const program = `name: shop
runtime: yaml
config:
  world: { type: string }
  greeting: { type: string }
  token: { type: string, secret: true }
resources:
  page:
    type: file:File
    properties:
      path: \${world}/page
      content: \${greeting}
  key:
    type: file:File
    properties:
      path: \${world}/key
      content: \${token}
outputs:
  page: \${page.path}
  key: \${key.content}
`;
const variables = { values: { greeting: 'hello' }, secrets: { token: 'planted-token' } };
const urn = (name: string) => `urn:pulumi:test-one::shop::file:index:File::${name}`;

for (const travels of [false, true]) {
  test(
    `a deployment plans and applies, ${travels ? 'elsewhere' : 'on the kept tree'}`,
    withPulumi,
    async (t) => {
      const { world, run, apply, job, setup } = pulumiStage(t, { 'Pulumi.yaml': program }, variables);
      const planned = await run(job());
      assert.equal(planned.outcome.result, 'planned', JSON.stringify(planned.outcome));
      assert.deepEqual(planned.outcome.planSummary, { added: 2, changed: 0, destroyed: 0 });
      assert.equal(planned.outcome.toolVersion, '3.259.0');
      assert.equal(planned.outcome.isStateOurs, true);
      const applied = await apply(planned, { travels });
      assert.equal(applied.outcome.result, 'applied', JSON.stringify(applied.outcome));
      assert.equal(readFileSync(join(world, 'page'), 'utf8'), 'hello');
      assert.equal(readFileSync(join(world, 'key'), 'utf8'), 'planted-token');
      assert.deepEqual(applied.outcome.outputs, {
        key: { value: 'planted-token', sensitive: true, type: 'string' },
        page: { value: join(world, 'page'), sensitive: false, type: 'string' },
      });
      assert.equal(applied.outcome.resourceCount, 2);
      assert.deepEqual(applied.steps(), {
        'apply:prepare': 'SUCCESS',
        'pulumi:up': 'SUCCESS',
        'pulumi:output': 'SUCCESS',
        'state:store': 'SUCCESS',
      });
      const events = applied.events.filter((event) => event.kind === 'resource');
      assert.deepEqual(
        events
          .filter(({ status }) => status === 'done')
          .map(({ address, action }) => [address, action])
          .sort(),
        [
          [urn('key'), 'create'],
          [urn('page'), 'create'],
        ],
      );
      const state = setup.newestState(applied)?.toString() ?? '';
      assert.ok(!state.includes('planted-token'));
      assert.equal((JSON.parse(state) as { serial: number }).serial, 1);
    },
  );
}
void [existsSync, rmSync, writeFileSync];
