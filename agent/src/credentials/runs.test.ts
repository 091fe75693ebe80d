import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import type { RunCredential } from '#protocol/messages/run-credential.ts';
import { AgentSetup } from '../../testing/agent-setup.ts';
import type { ServedAttempt } from '../../testing/protocol-server.ts';
import { withTerraform } from '../../testing/runner-setup.ts';
import { startAwsServer, withAwsServer } from '../../testing/secret-stores/aws-server.ts';

const files = {
  'main.tf': `
resource "terraform_data" "first" {
  provisioner "local-exec" {
    command = "echo key $AWS_ACCESS_KEY_ID $AWS_SECRET_ACCESS_KEY; cat $KUBECONFIG; (echo more >> $KUBECONFIG) || echo cannot write; stat -c mode-%a $KUBECONFIG"
  }
}
`,
};

function credentials(secret: string): RunCredential[] {
  const base = { id: 'id', version: secret };
  return [
    {
      ...base,
      name: 'keys',
      type: 'AWS_ACCESS_KEYS_FOR_DEPLOYMENT',
      value: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: `planted-key-${secret}` },
    },
    {
      ...base,
      name: 'cluster',
      type: 'K8S_KUBECONFIG_FILE',
      value: { kubeConfig: `clusters: []\nusers: [{user: {token: planted-token-${secret}}}]\n` },
    },
  ];
}

const secretsOf = (secret: string) => [`planted-key-${secret}`, `planted-token-${secret}`];

const textOf = (attempt: ServedAttempt) =>
  JSON.stringify(attempt.events) +
  [...attempt.logs.values()].join('') +
  JSON.stringify({ ...attempt.outcome });

test(
  'a run has its credentials while it lasts, and an apply has those of its time',
  withTerraform,
  async (t) => {
    const setup = await AgentSetup.create(t, files);
    const agent = setup.startAgent();
    const first = setup.job({ credentials: credentials('old'), secrets: secretsOf('old') });
    setup.server.enqueue(first);
    const planned = await setup.outcomeOf(first);
    assert.equal(planned.outcome?.result, 'planned', JSON.stringify(planned.outcome) + agent.log());
    await setup.until(() => setup.spooled().length === 0, 'an empty spool');
    const apply: Job = {
      ...setup.applyJob(planned, true),
      credentials: credentials('new'),
      secrets: secretsOf('new'),
    };
    setup.server.enqueue(apply);
    const applied = await setup.outcomeOf(apply);
    assert.equal(applied.outcome?.result, 'applied', JSON.stringify(applied.outcome) + agent.log());
    const log = applied.logs.get('tf:apply')?.toString() ?? '';
    assert.match(log, /key AKIAIOSFODNN7EXAMPLE \*\*\*/);
    assert.match(log, /token: \*\*\*\}/);
    if (process.getuid?.() === 0) {
      assert.match(log, /cannot write/);
      assert.match(log, /mode-440/);
    }
    for (const attempt of [planned, applied]) assert.doesNotMatch(textOf(attempt), /planted/);
    assert.doesNotMatch(agent.log(), /planted/);
    assert.equal(existsSync(join(setup.folder, 'work', apply.environmentId, 'credentials')), false);
    assert.deepEqual(setup.server.problems, []);
  },
);

test('a credential that cannot be delivered ends the step of the variables', withTerraform, async (t) => {
  const setup = await AgentSetup.create(t, files);
  setup.startAgent();
  const job = setup.job({
    credentials: [
      { id: 'id', name: 'deployer', type: 'AWS_OIDC', version: '', value: {}, problem: 'is invalid' },
    ],
  });
  setup.server.enqueue(job);
  const { outcome, events } = await setup.outcomeOf(job);
  assert.equal(outcome?.result, 'failed');
  assert.equal(outcome?.error?.message, 'Credential "deployer" is invalid');
  const ends = events.flatMap((event) =>
    event.kind === 'step' && event.status === 'FAIL' ? [event.step] : [],
  );
  assert.deepEqual(ends, ['variables:setup']);
});

test('a run that names an EKS cluster has its kubeconfig file and token while it lasts', {
  skip: withTerraform.skip || withAwsServer().skip,
}, async (t) => {
  await using aws = await startAwsServer();
  await aws.makeCluster('prod');
  const command =
    'cat $KUBECONFIG; token=$(sed -n "s/.*tokenFile: //p" $KUBECONFIG); stat -c mode-%a $token; cat $token; cut -c 1-11 $token';
  const code = {
    'main.tf': files['main.tf'].replace(/command = .*/, `command = ${JSON.stringify(command)}`),
  };
  const setup = await AgentSetup.create(t, code);
  const agent = setup.startAgent({ AWS_ENDPOINT_URL: aws.url });
  const eks = {
    ...{ id: 'id', name: 'cluster', type: 'K8S_EKS_AUTH', version: 'one' },
    value: { clusterName: 'prod', clusterRegion: 'eu-west-1' },
  };
  const secretsOfJob = { credentials: [...credentials('old').slice(0, 1), eks], secrets: secretsOf('old') };
  const job = setup.job(secretsOfJob);
  setup.server.enqueue(job);
  const planned = await setup.outcomeOf(job);
  assert.equal(planned.outcome?.result, 'planned', JSON.stringify(planned.outcome) + agent.log());
  const apply: Job = { ...setup.applyJob(planned, true), ...secretsOfJob };
  setup.server.enqueue(apply);
  const applied = await setup.outcomeOf(apply);
  assert.equal(applied.outcome?.result, 'applied', JSON.stringify(applied.outcome) + agent.log());
  const log = applied.logs.get('tf:apply')?.toString() ?? '';
  assert.match(log, /server: https:\/\/.*eks\.amazonaws\.com/);
  assert.match(log, process.getuid?.() === 0 ? /mode-440/ : /mode-400/);
  assert.match(log, /\*\*\*/);
  // The beginning alone may appear: it shows that the file had a token.
  assert.match(log, /k8s-aws-v1\.(\n|\r|$)/m);
  assert.doesNotMatch(textOf(applied), /k8s-aws-v1\.aHR0|planted/);
  assert.equal(existsSync(join(setup.folder, 'work', apply.environmentId, 'credentials')), false);
});
