/** The network between an agent and its service fails in the middle of a run; see `network.slow.test.ts`, too. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Marks, startMarks } from '../marks.ts';
import { withoutTerraform } from '../programs.ts';
import { until } from '../runs.ts';
import { type RunningService, startService } from '../service.ts';
import { FarAgent } from './far-agent.ts';
import { checkUnharmed, middle, startAndHold, startFarRun, untilUnreachable } from './far-run.ts';

describe('the network of an agent', {
  concurrency: true,
  skip: withoutTerraform,
}, () => {
  let service: RunningService;
  let marks: Marks;

  before(async () => {
    marks = await startMarks([middle]);
    service = await startService({
      settings: {
        ENVARIUM_BUILT_IN_AGENT: 'false',
        ENVARIUM_LOG_LEVEL: 'warn',
        ENVARIUM_RATE_LIMIT: '0',
      },
    });
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await marks?.[Symbol.asyncDispose]();
  });

  test('is cut until the agent has tried again several times', async () => {
    await using agent = await FarAgent.start(service, 'cut');
    const run = await startAndHold(service, marks, agent, 'cut');
    agent.network.begin('cut');
    marks.open('cut', middle);
    await until('the attempts of the agent', () => agent.network.refused >= 3);
    agent.network.end();
    await checkUnharmed(service.client, marks, run);
  });

  test('is half-open until the agent is shown as unreachable', async () => {
    await using agent = await FarAgent.start(service, 'half-open');
    const run = await startAndHold(service, marks, agent, 'half-open');
    agent.network.begin('half-open');
    assert.match(await untilUnreachable(service.client, run), /has not been heard from since/);
    marks.open('half-open', middle);
    agent.network.end();
    await checkUnharmed(service.client, marks, run);
  });

  test('is slow from the plan to the end', async () => {
    await using agent = await FarAgent.start(service, 'slow');
    agent.network.begin('slow');
    marks.open('slow', middle);
    const run = await startFarRun(service, marks, agent, 'slow');
    await checkUnharmed(service.client, marks, run);
  });

  test('loses the answer to each call of a run', async () => {
    const calls = ['claim', 'report', 'mark', 'state', 'heartbeat', 'finish'];
    await using agent = await FarAgent.start(service, 'answers');
    agent.network.loseAnswers(...calls);
    const run = await startAndHold(service, marks, agent, 'answers');
    const missing = () => calls.filter((call) => !agent.network.lost.includes(call));
    await until('the loss of each answer', () => missing().length === 0).catch((error: Error) =>
      assert.fail(`${error.message}: missing are ${missing().join()}`),
    );
    // The first one was that of the plan.
    agent.network.loseAnswers('finish');
    marks.open('answers', middle);
    await checkUnharmed(service.client, marks, run);
    assert.deepEqual(agent.network.lost.toSorted(), [...calls, 'finish'].toSorted());
  });
});
