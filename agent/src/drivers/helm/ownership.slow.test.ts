/** Objects that a destroy touches, with the real runner, helm and cluster. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionsOf, exampleChart, helmStage, plain, withHelm } from '../../../testing/charts/helm-stage.ts';
import { sharedCluster } from '../../../testing/cluster/cluster.ts';
import { failureMessageOf } from '../../../testing/outcomes.ts';

const needs = withHelm();
const cluster = sharedCluster();

test(
  'a destroy leaves a release that another user has made, and a deployment takes it over',
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
    const other = { environmentId: '00000000-0000-7000-8000-0000000000e2' };
    assert.match(failureMessageOf(await stage.run(stage.job(other))), /belongs to the environment \S+e1/);
    const left = await stage.deploy(stage.job({ ...other, type: 'destroy' }));
    assert.equal(left.planned.outcome.hasChanges, false);
    assert.equal(await releases(), 'shop\n');
    const destroyed = await stage.deploy(stage.job({ type: 'destroy' }));
    assert.equal(destroyed.planned.outcome.planSummary?.destroyed, 3);
    assert.equal(await releases(), '');
  },
);

test('the plan of a destroy names the hooks that it runs', needs, async (t) => {
  const hook = (name: string, event: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  annotations:\n    helm.sh/hook: ${event}\n`;
  const files = {
    ...exampleChart(),
    'templates/a.yaml': hook('first', 'pre-install'),
    'templates/b.yaml': hook('last', 'test,pre-delete'),
  };
  const stage = await helmStage(t, await cluster(), files);
  stage.namespace.playReadiness();
  await stage.deploy();
  const { name } = stage.namespace;
  const planned = await stage.run(stage.job({ type: 'destroy' }));
  const hooks = planned.log('helm:diff').match(/^Hook .*$/gm);
  assert.deepEqual(hooks, [`Hook test,pre-delete: v1/ConfigMap/${name}/last`]);
  const environment = [plain('ENVARIUM_HELM_CLI_ARGS_uninstall', '--no-hooks')];
  const without = await stage.run(stage.job({ type: 'destroy' }, { environment }));
  assert.doesNotMatch(without.log('helm:diff'), /Hook /);
});
