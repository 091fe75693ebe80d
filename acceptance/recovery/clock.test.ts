/** The clock of an agent's machine is wrong by ten minutes: neither its runs nor what they show depend on it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Marks, startMarks } from '../marks.ts';
import { withoutTerraform } from '../programs.ts';
import { approveAndEnd, stepLines, untilStatus } from '../runs.ts';
import { type RunningService, startService } from '../service.ts';
import { FarAgent } from './far-agent.ts';
import { checkUnharmed, deploymentOf, middle, startFarRun } from './far-run.ts';

const run = promisify(execFile);
const bundler = fileURLToPath(new URL('../../tools/bundle.ts', import.meta.url));
const wrongByMilliseconds = 600_000;
/** Of a busy machine, and a tenth of what the clock is wrong by. */
const toleranceMilliseconds = wrongByMilliseconds / 10;

/** The agent as one file, all of whose processes have a clock that is wrong. */
async function writeAgent(bundle: string, file: string, milliseconds: number): Promise<void> {
  const clock = `const RightDate = Date;
globalThis.Date = class extends RightDate {
  constructor(...given) {
    if (given.length === 0) super(RightDate.now() + ${milliseconds});
    else super(...given);
  }
  static now() {
    return RightDate.now() + ${milliseconds};
  }
};
`;
  const program = await readFile(bundle, 'utf8');
  const begin = program.indexOf('\n') + 1;
  await writeFile(file, program.slice(0, begin) + clock + program.slice(begin));
}

describe("an agent's clock", {
  concurrency: true,
  skip: withoutTerraform,
}, () => {
  let service: RunningService;
  let marks: Marks;

  before(async () => {
    marks = await startMarks([]);
    service = await startService({
      settings: {
        ENVARIUM_BUILT_IN_AGENT: 'false',
        ENVARIUM_LOG_LEVEL: 'warn',
        ENVARIUM_RATE_LIMIT: '0',
      },
    });
    const built = join(service.folder, 'built');
    await run(process.execPath, [bundler, built]);
    for (const [name, sign] of [
      ['ahead', 1],
      ['behind', -1],
    ] as const) {
      await mkdir(join(service.folder, name));
      const file = join(service.folder, name, 'envarium-agent.mjs');
      await writeAgent(join(built, 'envarium-agent.mjs'), file, sign * wrongByMilliseconds);
    }
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await marks?.[Symbol.asyncDispose]();
  });

  for (const name of ['ahead', 'behind'] as const)
    test(`is ten minutes ${name}: a run with an approval shows the times of the service`, async () => {
      const { client, folder } = service;
      const program = join(folder, name, 'envarium-agent.mjs');
      await using agent = await FarAgent.start(service, name, { program });
      const started = Date.now();
      const far = await startFarRun(service, marks, agent, name, { requiresApproval: true });
      const planned = await untilStatus(client, far.deploymentId, 'WAITING_FOR_USER');
      assert.equal(planned.status, 'WAITING_FOR_USER', planned.error?.message);
      await approveAndEnd(client, far.deploymentId);
      await checkUnharmed(client, marks, far);
      assert.deepEqual(marks.of(name), ['first', middle, 'last']);

      const steps = await client.call('listSteps', { params: { deploymentLogId: far.deploymentId } });
      const lines = await stepLines(client, far.deploymentId, 'tf:apply');
      const { startedAt, finishedAt } = await deploymentOf(client, far);
      const shown = [
        startedAt,
        finishedAt,
        ...steps.flatMap((step) => [step.startedAt, step.completedAt]),
        ...lines.map(({ timestamp }) => timestamp),
      ].filter((time) => typeof time === 'string');
      assert.ok(shown.length > 10);
      for (const time of shown)
        assert.ok(
          Date.parse(time) > started - toleranceMilliseconds &&
            Date.parse(time) < Date.now() + toleranceMilliseconds,
          `${time} is not between ${new Date(started).toISOString()} and ${new Date().toISOString()}`,
        );
      for (const step of steps.filter(({ completedAt }) => completedAt !== undefined))
        assert.ok((step.startedAt ?? '') <= (step.completedAt ?? ''), `${step.name} ends after its begin`);
      const timeline = await client.call('getDeploymentTimeline', { params: { id: far.deploymentId } });
      const took = Date.parse(finishedAt ?? '') - Date.parse(startedAt ?? '');
      assert.ok(Math.abs(timeline.milliseconds - took) < toleranceMilliseconds, JSON.stringify(timeline));
      assert.doesNotMatch(agent.log(), /clock|expired|lost/);
    });
});
