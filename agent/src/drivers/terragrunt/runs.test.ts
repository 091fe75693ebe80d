/** Real runs of terragrunt with the real runner, with terraform and with OpenTofu. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readUnitStates } from '#protocol/tools/terragrunt-state.ts';
import { expectResult } from '../../../testing/outcomes.ts';
import {
  binaries,
  createTerragrunt,
  moduleCode,
  unitCode,
  withTerragrunt,
} from '../../../testing/units/terragrunt-setup.ts';

const three = {
  'modules/one/main.tf': moduleCode,
  'live/vpc/terragrunt.hcl': unitCode('net'),
  'live/app/terragrunt.hcl': unitCode('app on ${dependency.it.outputs.input}', 'vpc'),
  'live/db/terragrunt.hcl': '',
  'live/db/main.tf': moduleCode,
};

for (const binary of binaries) {
  test(
    `a single unit is planned, applied as planned, changed and destroyed with ${binary}`,
    withTerragrunt(binary),
    async (t) => {
      const setup = createTerragrunt(t, binary, three, false);
      const path = { source: { ...setup.job().source, path: 'live/vpc' } };
      const planned = await expectResult('planned', setup.plan(path));
      assert.deepEqual(planned.outcome.planSummary, { added: 1, changed: 0, destroyed: 0 });
      for (const onOtherMachine of [false, true]) {
        const applied = await expectResult('applied', setup.deploy(path, { onOtherMachine }));
        assert.equal(applied.outcome.outputs?.['input']?.value, 'net');
        assert.equal(applied.outcome.resourceCount, 1);
      }
      const destroyed = await expectResult('applied', setup.deploy({ ...path, type: 'destroy' }));
      assert.equal(destroyed.outcome.resourceCount, 0);
    },
  );

  test(
    `all units are planned together and applied in their order with ${binary}`,
    withTerragrunt(binary),
    async (t) => {
      const setup = createTerragrunt(t, binary, three);
      const first = await expectResult('planned', setup.plan());
      const rows = first.outcome.plan?.resourceChanges.map(({ path, moduleName, action }) => [
        path,
        moduleName,
        action,
      ]);
      assert.deepEqual(rows, [
        ['app/terraform_data.it', 'app', 'create'],
        ['db/terraform_data.it', 'db', 'create'],
        ['vpc/terraform_data.it', 'vpc', 'create'],
      ]);
      assert.deepEqual(first.outcome.planSummary, { added: 2, changed: 0, destroyed: 0, deferred: 1 });
      assert.match(
        first.log('terragrunt:plan'),
        /Unit app is not applied with this plan: it was planned with mock outputs of vpc/,
      );
      const applied = await expectResult('applied', setup.apply(first));
      assert.deepEqual(Object.keys(applied.outcome.outputs ?? {}).sort(), [
        'db.id',
        'db.input',
        'vpc.id',
        'vpc.input',
      ]);
      const second = await expectResult('applied', setup.deploy({}, { onOtherMachine: true }));
      assert.equal(second.outcome.outputs?.['app.input']?.value, 'app on net');
      assert.equal(second.outcome.resourceCount, 3);
      assert.deepEqual([...readUnitStates(setup.state() ?? Buffer.of()).units.keys()], ['app', 'db', 'vpc']);
      const destroyed = await expectResult('applied', setup.deploy({ type: 'destroy' }));
      assert.equal(destroyed.outcome.resourceCount, 0);
      const done = destroyed.events.flatMap((event) =>
        event.kind === 'resource' && event.status === 'done' ? [event.moduleName] : [],
      );
      assert.deepEqual([done[0], done.slice(1).sort()], ['app', ['db', 'vpc']]);
    },
  );
}

test(
  'the states of all units are not taken for that of a single unit, nor the other way',
  withTerragrunt(),
  async (t) => {
    for (const isRunAll of [false, true]) {
      const setup = createTerragrunt(
        t,
        'opentofu',
        { ...three, 'live/terragrunt.hcl': '', 'live/main.tf': moduleCode },
        isRunAll,
      );
      await expectResult('applied', setup.deploy());
      const { outcome } = await expectResult(
        'failed',
        setup.plan({ settings: { isTerragruntRunAll: !isRunAll } }),
      );
      assert.match(
        outcome.error?.message ?? '',
        /^The service stores the state of .* set it to (true|false) again/,
      );
    }
  },
);
