/**
 * An agent of the protocol's version before this one carries out a deployment: `former-agent.json` contains its
 * messages, without anything that later versions added. Change the file only together with the minor version.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RegisterReply, protocolVersion } from '#protocol/messages/agent.ts';
import type { StateReply } from '#protocol/messages/attempt.ts';
import type { ClaimReply, Job } from '#protocol/messages/job.ts';
import type { FinishReply } from '#protocol/messages/outcome.ts';
import type { protocolRoutes } from '#protocol/routes.ts';
import { renewBuiltInSecret } from '../start/bootstrap.ts';
import { retiredConfirm, sha256, TestAgent } from '../testing/agent.ts';
import { testApp } from '../testing/app.ts';
import { ok } from '../testing/client.ts';
import { createEnvironment, deploymentOf } from '../testing/environment.ts';
import conversation from './former-agent.json' with { type: 'json' };

interface Call {
  readonly call: keyof typeof protocolRoutes | 'confirm';
  readonly message?: object;
  readonly query?: Readonly<Record<string, string>>;
  readonly bytes?: string;
}

test('an agent of the former protocol version carries out a deployment from its registration to its end', async () => {
  const app = await testApp();
  const agent = new TestAgent(app, await renewBuiltInSecret(app.context, null));
  const { id, latestDeploymentLogId } = await createEnvironment(app, { requiresApproval: false });
  const deploymentId = latestDeploymentLogId ?? '';
  let job: Job | null = null;
  let stateVersionId = '';
  const held = () => (job === null ? null : { jobId: job.jobId, attempt: job.attempt, fence: job.fence });
  const fill = <Value>(value: Value): Value => {
    const known: Record<string, unknown> = {
      $spoolId: agent.spoolId,
      $epoch: agent.epoch,
      $fence: job?.fence,
      $held: held(),
      $stateVersionId: stateVersionId,
    };
    return JSON.parse(
      JSON.stringify(value, (_, part: unknown) =>
        typeof part === 'string' && part in known ? known[part] : part,
      ),
    ) as Value;
  };
  const calls = conversation as readonly Call[];
  const [first] = conversation;
  assert.equal(first?.message?.protocol?.minor, protocolVersion.minor - 1);

  for (const { call, message, query, bytes } of calls) {
    const response = await agent.send(
      call === 'confirm' ? retiredConfirm : call,
      {
        ...held(),
        ...(query && bytes !== undefined
          ? { query: { ...mapValues(fill(query)), sha256: sha256(bytes) } }
          : {}),
      },
      bytes ?? fill(message),
    );
    assert.equal(response.statusCode, 200, `${call}: ${response.body}`);
    const reply: unknown = response.json();
    if (call === 'register') ({ agentId: agent.agentId, epoch: agent.epoch } = reply as RegisterReply);
    if (call === 'claim') ({ job } = reply as ClaimReply);
    if (call === 'finish') job = (reply as FinishReply).next;
    if (call === 'putState') ({ stateVersionId } = reply as StateReply);
  }

  const deployment = await deploymentOf(app, deploymentId);
  assert.deepEqual(
    [deployment.status, deployment.resourceCount, deployment.stateVersionId],
    ['SUCCESS', 1, stateVersionId],
  );
  const steps = await ok(app, 'listSteps', { params: { deploymentLogId: deploymentId } });
  assert.ok(steps.some(({ name, status }) => name === 'tf:apply' && status === 'SUCCESS'));
  assert.equal((await ok(app, 'getEnvironment', { params: { id } })).status, 'ACTIVE');
});

/** Numbers in an address are texts. */
function mapValues(query: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));
}
