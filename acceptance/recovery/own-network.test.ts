/** An agent in a network namespace of its own, whose cable to the service is pulled in the middle of a run. */
import { test } from 'node:test';
import { type Marks, startMarks } from '../marks.ts';
import { withoutTerraform } from '../programs.ts';
import { until } from '../runs.ts';
import { startService } from '../service.ts';
import { FarAgent } from './far-agent.ts';
import { checkUnharmed, middle, startAndHold, untilUnreachable } from './far-run.ts';
import { noNamespaces, OwnNetwork } from './own-network.ts';

const skip = withoutTerraform || (await noNamespaces());

const toService = 1;
const toMarks = 2;

test('the cable of an agent is pulled until it is shown as unreachable: the run is unharmed', {
  skip,
}, async () => {
  await using marks = await startMarks([middle]);
  await using service = await startService({
    settings: {
      ENVARIUM_BUILT_IN_AGENT: 'false',
      ENVARIUM_LOG_LEVEL: 'warn',
      ENVARIUM_RATE_LIMIT: '0',
    },
  });
  await using network = await OwnNetwork.start(`env${process.pid % 100_000}`);
  const url = await network.lay(toService, service.url);
  const marksAddress = await network.lay(toMarks, new URL(marks.addressOf('')).origin);
  const reached: Marks = { ...marks, addressOf: (story) => `${marksAddress}/${story}` };
  await using agent = await FarAgent.start(service, 'cable', { around: network.around, url });
  const run = await startAndHold(service, reached, agent, 'cable');
  await network.pull(toService);
  marks.open('cable', middle);
  await until('the end of the command', () => marks.of('cable').includes('last'));
  await untilUnreachable(service.client, run);
  await network.plugIn(toService);
  await checkUnharmed(service.client, marks, run);
});
