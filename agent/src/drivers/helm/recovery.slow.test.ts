/** Releases of runs that were killed in the middle, with the real runner, helm and cluster. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { until } from '../../../../tools/suite/until.ts';
import {
  actionsOf,
  exampleChart,
  type HelmStage,
  helmStage,
  plain,
  withHelm,
} from '../../../testing/charts/helm-stage.ts';
import { sharedCluster } from '../../../testing/cluster/cluster.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import type { Ran } from '../../../testing/runner-setup.ts';
import { processesOf } from '../../processes/end-processes.ts';
import { textOrEmpty } from '../../processes/proc.ts';

const needs = withHelm();
const cluster = sharedCluster();

const setting = (name: string, value: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  value: "${value}"\n`;
/** Its deployment never becomes ready unless readiness is played, so that helm waits. */
const chart = { ...exampleChart(), 'templates/first.yaml': setting('first', '1') };

function helmProcesses({ setup }: HelmStage): number[] {
  return processesOf(setup.slotUid ?? process.getuid?.() ?? 0).filter(
    (pid) => textOrEmpty(`/proc/${pid}/comm`).trim() === 'helm',
  );
}

async function kill(stage: HelmStage): Promise<void> {
  for (const pid of helmProcesses(stage)) process.kill(pid, 'SIGKILL');
}

/** Applies a plan until the log of helm says something, and kills helm. */
async function killedApply(stage: HelmStage, job: Job, when: RegExp, step = 'helm:upgrade'): Promise<Ran> {
  const planned = await expectResult('planned', stage.run(job));
  const running = stage.start(stage.setup.applyJob(planned));
  await running.until(() => when.test(textOrEmpty(running.spool.stepLog(step))), String(when));
  await kill(stage);
  return expectResult('failed', running.ended);
}

const statusOf = async (stage: HelmStage) =>
  (JSON.parse(await stage.helm(['list', '--all', '--output=json'])) as { status: string }[])[0]?.status;

async function withReadiness<Value>(stage: HelmStage, work: () => Promise<Value>): Promise<Value> {
  const playing = stage.namespace.playReadiness();
  try {
    return await work();
  } finally {
    await playing[Symbol.asyncDispose]();
  }
}

async function names(stage: HelmStage, kind: string): Promise<string[]> {
  const text = await stage.namespace.kubectl(['get', kind, '-o', 'name']);
  return text.split('\n').filter((name) => name !== '' && !name.endsWith('kube-root-ca.crt'));
}

test('a first installation that was killed is continued, and says so', needs, async (t) => {
  const stage = await helmStage(t, await cluster(), chart);
  const killed = await killedApply(stage, stage.job(), /beginning wait/);
  assert.match(killed.outcome.error?.message ?? '', /SIGKILL/);
  assert.equal(await statusOf(stage), 'pending-install');
  stage.setup.commit({ 'templates/first.yaml': null, 'templates/second.yaml': setting('second', '2') });
  const { planned, applied } = await withReadiness(stage, () => stage.deploy());
  assert.deepEqual(actionsOf(planned), {
    'v1/Secret/sh.helm.release.v1.shop.v1': 'metadata',
    'v1/ConfigMap/first': 'delete',
    'v1/ConfigMap/second': 'create',
  });
  assert.match(
    planned.log('helm:diff'),
    /Revision 1 of release shop is pending-install: deployment [0-9a-f-]{36} of this environment was stopped before its end/,
  );
  assert.match(applied.log('helm:upgrade'), /configmap "first" deleted/);
  assert.equal(await statusOf(stage), 'deployed');
  assert.deepEqual(await names(stage, 'configmaps'), ['configmap/second', 'configmap/shop-page']);
  assert.equal((await stage.run(stage.job())).outcome.hasChanges, false);
});

test('an upgrade that was killed is continued from the last revision that was deployed', needs, async (t) => {
  const stage = await helmStage(t, await cluster(), chart);
  await withReadiness(stage, () => stage.deploy());
  stage.setup.commit({
    'templates/first.yaml': setting('first', '2'),
    'templates/second.yaml': setting('second', '2'),
  });
  const slow = stage.job({}, { values: [plain('image.tag', '2')] });
  await killedApply(stage, slow, /beginning wait/);
  assert.equal(await statusOf(stage), 'pending-upgrade');
  stage.setup.commit({ 'templates/second.yaml': null });
  const { planned } = await withReadiness(stage, () => stage.deploy());
  assert.deepEqual(actionsOf(planned), {
    'v1/Secret/sh.helm.release.v1.shop.v2': 'metadata',
    'apps/v1/Deployment/shop': 'update',
    'v1/ConfigMap/second': 'delete',
  });
  assert.deepEqual(await names(stage, 'configmaps'), ['configmap/first', 'configmap/shop-page']);
  assert.equal(await statusOf(stage), 'deployed');
});

test('a rollback that was killed is continued', needs, async (t) => {
  const stage = await helmStage(t, await cluster(), chart);
  await withReadiness(stage, () => stage.deploy());
  // Neither revision is ready from now on: the rollback waits as well.
  await stage.namespace.kubectl(['delete', 'pods', '--all']);
  const environment = [plain('ENVARIUM_HELM_CLI_ARGS_upgrade', '--timeout 8s')];
  const values = [plain('image.tag', '2')];
  const deploymentId = '00000000-0000-7000-8000-0000000000d2';
  await killedApply(
    stage,
    stage.job({ deploymentId }, { environment, values }),
    /rolling back to last[^]*beginning wait/,
  );
  assert.equal(await statusOf(stage), 'pending-rollback');
  const { planned } = await withReadiness(stage, () => stage.deploy());
  assert.match(
    planned.log('helm:diff'),
    /Revision 3 of release shop is pending-rollback: deployment \S+d2 of this/,
  );
  assert.equal(await statusOf(stage), 'deployed');
});

for (const next of ['deploy', 'destroy'] as const)
  test(`a destroy that was killed is followed by a ${next}`, needs, async (t) => {
    const stage = await helmStage(t, await cluster(), chart);
    await withReadiness(stage, () => stage.deploy());
    // Until it is removed, the object cannot go.
    const finalizers = (list: string) => `{"metadata":{"finalizers":${list}}}`;
    const patch = (list: string) =>
      stage.namespace.kubectl(['patch', 'configmap', 'first', '--type=merge', '-p', finalizers(list)]);
    await patch('["test.example/wait"]');
    await killedApply(stage, stage.job({ type: 'destroy' }), /Starting delete for "first"/, 'helm:uninstall');
    assert.equal(await statusOf(stage), 'uninstalling');
    await patch('[]');
    const { planned } = await withReadiness(stage, () => stage.deploy(stage.job({ type: next })));
    const expected = next === 'deploy' ? 'deployed' : undefined;
    assert.equal(await statusOf(stage), expected);
    if (next === 'deploy') {
      assert.match(
        planned.log('helm:diff'),
        /Revision 1 of release shop is uninstalling: a destroy of this environment was stopped/,
      );
      assert.equal((await stage.run(stage.job())).outcome.hasChanges, false);
    } else assert.deepEqual(await names(stage, 'configmaps,deployments,services'), []);
  });

test('a destroy after an upgrade that was killed leaves nothing of either revision', needs, async (t) => {
  const stage = await helmStage(t, await cluster(), chart);
  await withReadiness(stage, () => stage.deploy());
  stage.setup.commit({ 'templates/first.yaml': null, 'templates/second.yaml': setting('second', '2') });
  // Killed before helm has removed what the new revision has no more.
  const environment = [plain('ENVARIUM_HELM_CLI_ARGS_upgrade', '--wait')];
  await killedApply(
    stage,
    stage.job({}, { environment, values: [plain('image.tag', '2')] }),
    /Created a new/,
  );
  await stage.deploy(stage.job({ type: 'destroy' }));
  assert.deepEqual(await names(stage, 'configmaps,deployments,services'), []);
  assert.equal(await statusOf(stage), undefined);
});

test(
  'an upgrade that failed and was not rolled back is followed by one that removes what only it had',
  needs,
  async (t) => {
    const stage = await helmStage(t, await cluster(), chart);
    await withReadiness(stage, () => stage.deploy());
    stage.setup.commit({ 'templates/second.yaml': setting('second', '2') });
    const environment = [plain('ENVARIUM_HELM_CLI_ARGS_upgrade', '--atomic=false --timeout 2s')];
    const failing = await stage.run(stage.job({}, { environment, values: [plain('image.tag', '2')] }));
    await expectResult('failed', stage.run(stage.setup.applyJob(failing)));
    assert.equal(await statusOf(stage), 'failed');
    stage.setup.commit({ 'templates/second.yaml': null });
    const { planned } = await withReadiness(stage, () => stage.deploy());
    assert.deepEqual(actionsOf(planned), {
      'apps/v1/Deployment/shop': 'update',
      'v1/ConfigMap/second': 'delete',
    });
    assert.deepEqual(await names(stage, 'configmaps'), ['configmap/first', 'configmap/shop-page']);
  },
);

test('a release that was uninstalled by hand is installed again', needs, async (t) => {
  const stage = await helmStage(t, await cluster(), chart);
  await withReadiness(stage, () => stage.deploy());
  await stage.helm(['uninstall', 'shop', '--keep-history']);
  const { planned } = await withReadiness(stage, () => stage.deploy());
  assert.equal(planned.outcome.planSummary?.added, 4);
  assert.equal(await statusOf(stage), 'deployed');
});

test('an upgrade or a rollback that a user has begun with helm is not touched', needs, async (t) => {
  const stage = await helmStage(t, await cluster(), chart);
  await withReadiness(stage, () => stage.deploy());
  const folder = stage.setup.repository;
  for (const [args, status] of [
    [['upgrade', 'shop', folder, '--set-string', 'image.tag=3', '--wait'], 'pending-upgrade'],
    [['rollback', 'shop', '1', '--wait'], 'pending-rollback'],
  ] as const) {
    const running = stage.helm(args);
    const ended = running.catch(() => undefined);
    await until(status, async () => (await statusOf(stage)) === status);
    const refused = await stage.run(stage.job());
    assert.match(failureMessageOf(refused), new RegExp(`is ${status}, and no run of this environment`));
    await withReadiness(stage, () => ended);
  }
  await withReadiness(stage, () => stage.deploy());
});

async function foreignPending(t: TestContext): Promise<HelmStage> {
  const stage = await helmStage(t, await cluster(), chart);
  const { setup, namespace } = stage;
  const record = JSON.stringify({
    name: 'shop',
    version: 1,
    manifest: '',
    info: { status: 'pending-install' },
  });
  const release = Buffer.from(Buffer.from(record).toString('base64')).toString('base64');
  const labels = { owner: 'helm', name: 'shop', status: 'pending-install', version: '1' };
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'helm.sh/release.v1',
    metadata: { name: 'sh.helm.release.v1.shop.v1', labels },
    data: { release },
  };
  assert.ok(setup.folder);
  await namespace.kubectl(['create', '-f', '-'], JSON.stringify(secret));
  return stage;
}

test('a revision that another user has left, or is making, is not touched', needs, async (t) => {
  const stage = await foreignPending(t);
  const { outcome } = await expectResult('failed', stage.run(stage.job()));
  assert.match(
    outcome.error?.message ?? '',
    /^revision 1 of release shop is pending-install, and no run of this environment has made it/,
  );
  const destroyed = await stage.deploy(stage.job({ type: 'destroy' }));
  assert.equal(destroyed.planned.outcome.hasChanges, false);
  const left = await stage.namespace.kubectl(['get', 'secrets', '--selector=owner=helm', '-o', 'name']);
  assert.equal(left, 'secret/sh.helm.release.v1.shop.v1\n');
});

test('a release of another environment is not touched', needs, async (t) => {
  const stage = await helmStage(t, await cluster(), chart);
  await withReadiness(stage, () => stage.deploy());
  const environmentId = '00000000-0000-7000-8000-0000000000e2';
  const refused = await stage.run(stage.job({ environmentId }));
  assert.match(
    failureMessageOf(refused),
    /^release shop belongs to the environment 00000000-\S+e1: choose another workspaceName or namespace/,
  );
});

test('an interrupted upgrade is rolled back by helm', needs, async (t) => {
  const stage = await helmStage(t, await cluster(), chart);
  await withReadiness(stage, () => stage.deploy());
  const planned = await stage.run(stage.job({}, { values: [plain('image.tag', '2')] }));
  const running = stage.start(stage.setup.applyJob(planned));
  const log = () => textOrEmpty(running.spool.stepLog('helm:upgrade'));
  await running.until(() => /beginning wait/.test(log()), 'the wait');
  await withReadiness(stage, async () => {
    running.abort('gently');
    await expectResult('aborted', running.ended);
  });
  assert.equal(await statusOf(stage), 'deployed');
  assert.deepEqual(actionsOf(await stage.run(stage.job())), {});
});
