/** The programs that plan the later levels of a deployment, with the real runner. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import { createSetup, withTerraform } from '../../../testing/runner-setup.ts';

const level = { number: 2, units: ['app'], done: ['vpc'] };

test(
  'a later level is planned with the version of the level before it, and with no other',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, { 'main.tf': '', '.terraform-version': 'latest' });
    const first = await expectResult('planned', setup.run(setup.job({ level })));
    const version = first.outcome.toolVersion ?? '';
    const other = await setup.run(setup.job({ level: { ...level, toolVersion: '0.99.0' } }));
    assert.match(failureMessageOf(other), /0\.99\.0.*the approved plan/);
    const same = await setup.run(setup.job({ level: { ...level, toolVersion: version } }));
    assert.deepEqual([same.outcome.result, same.outcome.toolVersion], ['planned', version]);
  },
);
