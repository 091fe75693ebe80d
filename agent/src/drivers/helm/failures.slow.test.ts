/** Failures of runs and their messages, with the real runner, helm and cluster. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { JobVariable } from '#protocol/messages/job.ts';
import {
  exampleChart,
  type HelmStage,
  helmStage,
  plain,
  withHelm,
} from '../../../testing/charts/helm-stage.ts';
import { sharedCluster } from '../../../testing/cluster/cluster.ts';
import { playAnnotation } from '../../../testing/cluster/played-readiness.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import type { Ran } from '../../../testing/runner-setup.ts';

const needs = withHelm();
const cluster = sharedCluster();
const shortly = plain('ENVARIUM_HELM_CLI_ARGS_upgrade', '--timeout 3s');

async function stageWith(t: TestContext, files: Record<string, string>): Promise<HelmStage> {
  return helmStage(t, await cluster(), { ...exampleChart(), ...files });
}

/** Plans with additional files and values. @returns the error */
async function planError(
  t: TestContext,
  files: Record<string, string>,
  more: { environment?: JobVariable[]; values?: JobVariable[] } = {},
): Promise<string> {
  const stage = await stageWith(t, files);
  return failureMessageOf(await stage.run(stage.job({}, more)));
}

/** @returns the run of an apply that fails */
async function failedApply(stage: HelmStage, job = stage.job()): Promise<Ran> {
  const planned = await expectResult('planned', stage.run(job));
  return stage.run(stage.setup.applyJob(planned));
}

test('a folder without a chart is named', needs, async (t) => {
  const stage = await helmStage(t, await cluster(), { 'readme.md': 'nothing' });
  const job = stage.job();
  assert.match(
    failureMessageOf(await stage.run(job)),
    /^No chart: the root of \S+ has no Chart\.yaml; set path/,
  );
});

test(
  'values that the schema refuses, a template that does not parse and an unknown kind are named',
  needs,
  async (t) => {
    assert.match(
      await planError(t, {}, { values: [plain('replicas', 'many')] }),
      /values don't meet the specifications of the schema[^]*\(a variable without a format is text: set replicas with the format JSON[^]*--json-var replicas=…\)$/,
    );
    assert.match(
      await planError(t, { 'templates/broken.yaml': 'a: {{ .Values.nothing.more' }),
      /parse error at \(greeting\/templates\/broken\.yaml:1\)/,
    );
    assert.match(await planError(t, { 'templates/broken.yaml': 'apiVersion: v1\nkind: [' }), /broken\.yaml/);
    assert.match(
      await planError(t, {
        'templates/odd.yaml': 'apiVersion: test.example/v1\nkind: Odd\nmetadata:\n  name: odd\n',
      }),
      /no matches for kind "Odd" in version "test\.example\/v1"[^]*\(the cluster has no such kind/,
    );
  },
);

test('objects that belong to another owner are not taken over', needs, async (t) => {
  const stage = await stageWith(t, {});
  await stage.namespace.kubectl(['create', 'configmap', 'shop-page']);
  assert.match(
    failureMessageOf(await stage.run(stage.job())),
    /ConfigMap "shop-page" in namespace "\S+" exists and cannot be imported[^]*\(the object exists and does not belong to this release/,
  );
  stage.namespace.playReadiness();
  const environment = [plain('ENVARIUM_HELM_CLI_ARGS_upgrade', '--take-ownership')];
  await stage.deploy(stage.job({}, { environment }));
});

test('a namespace that is being deleted is named', needs, async (t) => {
  const stage = await stageWith(t, {});
  const { kubectl, name } = stage.namespace;
  const finalizers = (list: string) => [
    'patch',
    'configmap',
    'stays',
    '--type=merge',
    '-p',
    `{"metadata":{"finalizers":${list}}}`,
  ];
  await kubectl(['create', 'configmap', 'stays']);
  await kubectl(finalizers('["test.example/wait"]'));
  await kubectl(['delete', 'namespace', name, '--wait=false']);
  assert.match(
    failureMessageOf(await stage.run(stage.job())),
    /because it is being terminated[^]*\(wait until the namespace is gone/,
  );
  await kubectl(finalizers('[]'));
});

test('a cluster that cannot be reached, and a token that has expired, are named', needs, async (t) => {
  const unreachable = await helmStage(t, await cluster(), exampleChart(), {
    kubeconfig: (namespace) => namespace.kubeconfig().replace(/127\.0\.0\.1:\d+/, '127.0.0.1:1'),
  });
  assert.match(
    failureMessageOf(await unreachable.run(unreachable.job())),
    /127\.0\.0\.1:1 was refused[^]*cannot be reached from this agent/,
  );
  const expired = await helmStage(t, await cluster(), exampleChart(), {
    kubeconfig: (namespace) => namespace.restrictedKubeconfig(-1),
  });
  assert.match(
    failureMessageOf(await expired.run(expired.job())),
    /logged in[^]*\(the cluster does not accept the token/,
  );
});

test('a user of one namespace deploys into it', needs, async (t) => {
  const stage = await helmStage(t, await cluster(), exampleChart(), {
    kubeconfig: (namespace) => namespace.restrictedKubeconfig(),
  });
  stage.namespace.playReadiness();
  await stage.deploy();
  await stage.deploy(stage.job({ type: 'destroy' }));
});

test('what a policy of the cluster refuses is known before the apply', needs, async (t) => {
  const stage = await stageWith(t, {});
  await stage.namespace.refuse({ resources: ['deployments'], message: 'No deployments on Fridays.' });
  assert.match(failureMessageOf(await stage.run(stage.job())), /No deployments on Fridays\./);
});

const hook = (wish: string) => `apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  annotations:
    helm.sh/hook: pre-upgrade
    helm.sh/hook-delete-policy: before-hook-creation
spec:
  backoffLimit: 0
  template:
    metadata:
      annotations:
        ${playAnnotation}: ${wish}
    spec:
      restartPolicy: Never
      containers:
        - name: migrate
          image: example.test/migrate:1
`;

for (const [wish, expected] of [
  ['failed', /pre-upgrade hooks failed: [^]*job migrate failed/i],
  ['pending', /pre-upgrade hooks failed: [^]*\(the time limit of helm \(--timeout\) has passed/],
] as const)
  test(
    `a hook that ${wish === 'failed' ? 'fails' : 'never ends'} fails the apply, which is rolled back`,
    needs,
    async (t) => {
      const stage = await stageWith(t, {});
      stage.namespace.playReadiness();
      await stage.deploy();
      stage.setup.commit({ 'templates/hook.yaml': hook(wish) });
      const values = [plain('greeting', 'Bye')];
      const failed = await failedApply(
        stage,
        stage.job({}, { environment: wish === 'pending' ? [shortly] : [], values }),
      );
      assert.match(failureMessageOf(failed), expected);
      assert.equal(failed.outcome.failedCommand, 'helm upgrade');
      stage.setup.commit({ 'templates/hook.yaml': null });
      const next = await stage.run(stage.job());
      assert.equal(next.outcome.hasResourceChanges, false);
    },
  );

test(
  'an upgrade that never becomes ready names its limit, what it waited for, and is rolled back',
  needs,
  async (t) => {
    const stage = await stageWith(t, {});
    const playing = stage.namespace.playReadiness();
    await stage.deploy();
    await playing[Symbol.asyncDispose]();
    const environment = [shortly];
    const failed = await failedApply(
      stage,
      stage.job({}, { environment, values: [plain('image.tag', '2')] }),
    );
    assert.match(failureMessageOf(failed), /has passed: the run derives it from its own time limit/);
    const log = failed.log('helm:upgrade');
    assert.match(log, /Deployment is not ready: \S+\/shop\. 0 out of 1 expected pods/);
    assert.match(log, /beginning wait for \d+ resources with timeout of 3s/);
    assert.match(log, /^shop-\S+ +1\/1 +Running/m);
  },
);

test('a first installation that fails leaves nothing, and a retry repeats it', needs, async (t) => {
  const stage = await stageWith(t, {});
  const planned = await stage.run(stage.job({}, { environment: [shortly] }));
  const retry = { times: 1, isReviewed: true };
  const failed = await stage.run(stage.setup.applyJob(planned, { changes: { retry } }));
  assert.match(failureMessageOf(failed), /atomic being set/);
  assert.equal(failed.outcome.error?.retryCount, 1);
  assert.equal(await stage.helm(['list', '--all', '--short']), '');
  assert.equal(await stage.namespace.kubectl(['get', 'deployments', '-o', 'name']), '');
});

test('what runs of helm cannot have is refused by name', needs, async (t) => {
  const stage = await stageWith(t, {});
  const refusal = async (changes: Parameters<HelmStage['job']>[0], more?: Parameters<HelmStage['job']>[1]) =>
    failureMessageOf(await stage.run(stage.job(changes, more)));
  const env = (name: string, value: string, isSensitive = false) => ({
    environment: [{ name, value, isSensitive }],
  });
  assert.match(await refusal({ workspaceName: 'Shop_1' }), /^workspaceName is the name of the release/);
  assert.match(await refusal({ workspaceName: 'a'.repeat(54) }), /at most 53/);
  assert.match(await refusal({ targets: ['x'] }), /^targets: helm deploys a release as a whole/);
  assert.match(await refusal({}, env('HELM_DRIVER', 'sql')), /^HELM_DRIVER cannot be set/);
  assert.match(
    await refusal({}, env('ENVARIUM_HELM_CLI_ARGS', '--post-renderer ./x')),
    /^ENVARIUM_HELM_CLI_ARGS: --post-renderer is not allowed, because it would start a program/,
  );
  assert.match(
    await refusal({}, env('ENVARIUM_HELM_CLI_ARGS_upgrade', '--timeout 5s', true)),
    /cannot be sensitive: its value becomes arguments/,
  );
  const secretArguments = {
    name: 'ENVARIUM_HELM_CLI_ARGS',
    value: '',
    isSensitive: false,
    reference: '${ssm:x}',
  };
  assert.match(
    await refusal({}, { environment: [secretArguments] }),
    /ENVARIUM_HELM_CLI_ARGS cannot be sensitive/,
  );
  assert.match(
    await refusal({}, env('ENVARIUM_HELM_VALUES_FILES', '../../x.yaml')),
    /must not lead out of the repository/,
  );
  const values = [plain('image', '{}', { format: 'JSON' }), plain('image.tag', '1')];
  assert.match(await refusal({}, { values }), /^image and image\.tag set values at the same place/);
  assert.match(await refusal({}, env('ENVARIUM_HELM_VERSION', '9.9.9')), /9\.9\.9/);
});

const fourth = '#!/bin/sh\necho v4.0.0\n';
const silent = '#!/bin/sh\ncase "$1" in version) echo v3.21.4;; *) exit 0;; esac\n';
const failing = '#!/bin/sh\ncase "$1" in version) echo v3.21.4;; *) exit 7;; esac\n';
const noisy =
  '#!/bin/sh\ncase "$1" in version) echo v3.21.4;; *) head -c 100000000 /dev/zero | tr "\\0" x;; esac\n';

for (const [what, script, expected] of [
  ['another version', fourth, /^helm 4\.0\.0 is not supported: .*ENVARIUM_HELM_VERSION/],
  ['nothing', silent, /^helm did not print the rendered release as JSON/],
  ['nothing and fails', failing, /^helm upgrade --dry-run ended with code 7 without any output/],
  ['100 MB', noisy, /^helm did not print the rendered release as JSON/],
] as const)
  test(`a helm that writes ${what} fails the plan`, needs, async (t) => {
    const stage = await stageWith(t, {});
    const program = join(stage.setup.folder, 'helm');
    writeFileSync(program, script);
    chmodSync(program, 0o755);
    const ran = await stage.run(stage.job(), { toolPaths: { ...stage.toolPaths, helm: program } });
    assert.match(failureMessageOf(ran), expected);
  });
