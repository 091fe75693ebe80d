/** Releases that people have made, with the real runner, helm and cluster. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedCluster } from '../../testing/cluster/cluster.ts';
import { actionsOf, helmStage, withHelm } from '../../testing/charts/helm-stage.ts';

const needs = withHelm();
const cluster = sharedCluster();

test(
  'a destroy leaves a release that somebody else has made, and a deployment takes it over',
  needs,
  async (t) => {
    const stage = await helmStage(t, await cluster());
    stage.namespace.playReadiness();
    const releases = () => stage.helm(['list', '--all', '--short']);
    await stage.helm(['install', 'shop', stage.setup.repository]);
    const nothing = await stage.deploy(stage.job({ type: 'destroy' }));
    assert.deepEqual([nothing.planned.outcome.hasChanges, actionsOf(nothing.planned)], [false, {}]);
    assert.match(nothing.planned.log('helm:diff'), /no deployment of this environment has made it: it stays/);
    assert.equal(await releases(), 'shop\n');
    await stage.namespace.kubectl(['get', 'deployment', 'shop']);

    const taken = await stage.deploy();
    assert.match(taken.planned.log('helm:diff'), /Release shop exists,.*the apply takes it over/);
    const destroyed = await stage.deploy(stage.job({ type: 'destroy' }));
    assert.equal(destroyed.planned.outcome.planSummary?.destroyed, 3);
    assert.equal(await releases(), '');
  },
);
