/** Charts of chart repositories and registries, with the real runner, helm and cluster. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Job, JobVariable } from '#protocol/messages/job.ts';
import { temporaryFolder } from '../../../../tools/suite/temporary-folder.ts';
import { makeAuthority } from '../../../testing/certificates.ts';
import { type ChartRepository, startChartRepository } from '../../../testing/charts/chart-repository.ts';
import {
  exampleChart,
  type HelmStage,
  helmStage,
  plain,
  withHelm,
} from '../../../testing/charts/helm-stage.ts';
import { sharedCluster } from '../../../testing/cluster/cluster.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import { prepareNetwork } from '../../network/network-order.ts';

const needs = withHelm();
const cluster = sharedCluster();
const password = 'the-password-of-charts';
const login: JobVariable[] = [
  plain('ENVARIUM_HELM_REPO_USERNAME', 'ada'),
  { name: 'ENVARIUM_HELM_REPO_PASSWORD', value: password, isSensitive: true },
];

function versionOf(version: string): Record<string, string> {
  const chart = exampleChart();
  return { ...chart, 'Chart.yaml': chart['Chart.yaml']!.replace(/^version: .*$/m, `version: ${version}`) };
}

function sourceOf(repository: string, version?: string, name = 'greeting'): Job['source'] {
  const chart = { name, ...(version === undefined ? {} : { version }) };
  return { repository, httpHosts: ['127.0.0.1'], localPaths: [], chart };
}

async function stageFor(t: TestContext): Promise<HelmStage> {
  const stage = await helmStage(t, await cluster(), { 'readme.md': '' });
  stage.namespace.playReadiness();
  return stage;
}

async function authorityFor(t: TestContext) {
  const folder = temporaryFolder(t, 'authority-');
  return makeAuthority(folder);
}

async function repository(
  t: TestContext,
  options: Parameters<typeof startChartRepository>[0] = {},
): Promise<ChartRepository> {
  const started = await startChartRepository(options);
  t.after(() => started[Symbol.asyncDispose]());
  for (const version of ['1.2.0', '1.3.0', '2.0.0']) started.add(versionOf(version));
  return started;
}

for (const onOtherMachine of [false, true])
  test(
    `the apply uses the chart of the plan, ${onOtherMachine ? 'on another machine' : 'in the kept tree'}`,
    needs,
    async (t) => {
      const charts = await repository(t);
      const stage = await stageFor(t);
      const planned = await expectResult(
        'planned',
        stage.run(stage.job({ source: sourceOf(charts.url, '~1.2') })),
      );
      assert.match(planned.outcome.moduleVersions?.['greeting'] ?? '', /^1\.2\.0 sha256:[0-9a-f]{64}$/);
      assert.equal(planned.steps()['git:clone'], 'SKIPPED');
      const count = charts.requests.length;
      const applied = await expectResult(
        'applied',
        stage.run(stage.setup.applyJob(planned, { onOtherMachine })),
      );
      assert.equal(applied.outcome.outputs?.['chartVersion']?.value, '1.2.0');
      assert.equal(charts.requests.length, count);
      const newest = await stage.run(stage.job({ source: sourceOf(charts.url) }));
      assert.match(newest.outcome.moduleVersions?.['greeting'] ?? '', /^2\.0\.0 /);
      assert.deepEqual([newest.outcome.hasChanges, newest.outcome.hasResourceChanges], [true, false]);
      const destroyed = await stage.deploy(stage.job({ type: 'destroy', source: sourceOf(charts.url) }));
      assert.equal(destroyed.planned.outcome.planSummary?.destroyed, 3);
    },
  );

test('credentials reach the repository, and neither log nor arguments', needs, async (t) => {
  const authority = await authorityFor(t);
  const charts = await repository(t, { authority, credentials: `ada:${password}` });
  const stage = await stageFor(t);
  const job = (environment: JobVariable[]) =>
    stage.job({ source: sourceOf(charts.url), secrets: [password] }, { environment });
  const { order } = prepareNetwork(authority.file, {}, stage.setup.workFolder);
  assert.match(failureMessageOf(await stage.run(job(login))), /x509: [^]*set ENVARIUM_CA_FILE of the agent/);
  const refused = await stage.run(job([]), { order: { network: order } });
  assert.match(failureMessageOf(refused), /401 Unauthorized[^]*check ENVARIUM_HELM_REPO_USERNAME/);
  const planned = await expectResult('planned', stage.run(job(login), { order: { network: order } }));
  assert.ok(!planned.log('helm:chart').includes(password));
});

test(
  'a chart or a version that is not there is named, and plain http needs to be allowed',
  needs,
  async (t) => {
    const charts = await repository(t);
    const stage = await stageFor(t);
    const error = async (source: Job['source']) => failureMessageOf(await stage.run(stage.job({ source })));
    assert.match(
      await error(sourceOf(charts.url, '9.9.9')),
      /greeting[^]*9\.9\.9[^]*not found[^]*\(check helmChartName and revision\)/,
    );
    assert.match(
      await error(sourceOf(charts.url, undefined, 'nothing')),
      /nothing[^]*not found[^]*\(check helmChartName/,
    );
    assert.match(await error(sourceOf(charts.url, undefined, '../x')), /^helmChartName: /);
    assert.match(
      await error({ ...sourceOf(charts.url), httpHosts: [] }),
      /uses plain http, which is not allowed/,
    );
  },
);

test('a chart of a registry is pulled with credentials', needs, async (t) => {
  const charts = await repository(t, { credentials: `ada:${password}` });
  const stage = await stageFor(t);
  const job = (environment: JobVariable[]) =>
    stage.job({ source: sourceOf(charts.registry, '1.3.0'), secrets: [password] }, { environment });
  assert.match(
    failureMessageOf(await stage.run(job([]))),
    /credential[^]*\(the chart repository refuses the credentials/,
  );
  const planned = await expectResult('planned', stage.run(job(login)));
  assert.match(planned.log('helm:chart'), /Digest: sha256:/);
  assert.match(planned.outcome.moduleVersions?.['greeting'] ?? '', /^1\.3\.0 sha256:/);
});

test('a chart from git gets the charts that it needs, once', needs, async (t) => {
  const charts = await repository(t, { credentials: `ada:${password}` });
  const stage = await helmStage(t, await cluster(), {
    'charts/web/Chart.yaml': `apiVersion: v2
name: web
version: 0.1.0
dependencies:
  - name: greeting
    version: 1.2.0
    repository: ${charts.url}
`,
    'charts/web/values.yaml': 'greeting:\n  greeting: Hello\n',
  });
  stage.namespace.playReadiness();
  const source = { ...stage.setup.job().source, path: 'charts/web' };
  const values = [plain('greeting.image.tag', '1.28')];
  const planned = await stage.run(stage.job({ source }, { environment: login, values }));
  assert.equal(
    planned.outcome.result,
    'planned',
    JSON.stringify(planned.outcome) + planned.log('helm:chart'),
  );
  assert.equal(planned.outcome.planSummary?.added, 3);
  assert.deepEqual(planned.outcome.moduleVersions, { web: '0.1.0', greeting: '1.2.0' });
  const count = charts.requests.length;
  await expectResult('applied', stage.run(stage.setup.applyJob(planned, { onOtherMachine: true })));
  assert.equal(charts.requests.length, count);
});

test('the release contains no file of the run', needs, async (t) => {
  const stage = await helmStage(t, await cluster(), {
    ...exampleChart(),
    'templates/files.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: files\ndata:\n  all: |\n    {{- range $name, $_ := .Files.Glob "**" }}\n    {{ $name }}\n    {{- end }}\n',
    'notice.txt': 'text',
  });
  stage.namespace.playReadiness();
  await stage.deploy();
  const text = await stage.namespace.kubectl(['get', 'configmap', 'files', '-o', 'jsonpath={.data.all}']);
  assert.deepEqual(text.trim().split(/\s+/).toSorted(), ['.helmignore', 'notice.txt']);
});
