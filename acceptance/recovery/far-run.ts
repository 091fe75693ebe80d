/** A run on a far agent, which the tests of the network hold in the middle of its apply. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '#contract/client/client.ts';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { isTerminal } from '#contract/life-cycle/life-cycle.ts';
import { leaveMark, type Marks } from '../marks.ts';
import { createEnvironment, until, wholeLog } from '../runs.ts';
import { makeRepository, type RunningService } from '../service.ts';
import type { FarAgent } from './far-agent.ts';

/** The mark at whose gate the apply waits. */
export const middle = 'middle';

const lineCount = 300;
const patienceMilliseconds = 180_000;
const pollMilliseconds = 250;

const printLines = (from: number, words: string) =>
  `for i in $(seq ${from} ${from + lineCount / 2 - 1}); do echo ${words} line $i of the run; done`;

const configuration = (place: string, words: string) => `resource "terraform_data" "first" {
  provisioner "local-exec" { command = "${leaveMark(place, 'first')}; ${printLines(1, words)}" }
}

resource "terraform_data" "second" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" {
    command = "${leaveMark(place, middle)} && ${printLines(1 + lineCount / 2, words)} && ${leaveMark(place, 'last')}"
  }
}
`;

export interface FarRun {
  readonly story: string;
  readonly environmentId: string;
  readonly deploymentId: string;
}

/** Starts a deployment. @param story a name that no other run has; `words` are what each line begins with */
export async function startFarRun(
  service: RunningService,
  marks: Marks,
  agent: FarAgent,
  story: string,
  { words = '', requiresApproval = false } = {},
): Promise<FarRun> {
  const files = { 'main.tf': configuration(marks.addressOf(story), words) };
  const { path } = await makeRepository(service.folder, story, files);
  const { id, deploymentId } = await createEnvironment(service.client, agent.home, {
    name: story,
    repository: path,
    requiresApproval,
  });
  return { story, environmentId: id, deploymentId };
}

/** The same, in the middle of its apply. */
export async function startAndHold(...args: Parameters<typeof startFarRun>): Promise<FarRun> {
  const run = await startFarRun(...args);
  const [, marks] = args;
  const deadline = performance.now() + patienceMilliseconds;
  // A claim whose answer is lost is handed out again after half a minute.
  while (!marks.of(run.story).includes(middle)) {
    if (performance.now() > deadline) throw new Error(`The apply of ${run.story} does not begin`);
    await delay(pollMilliseconds);
  }
  return run;
}

export async function deploymentOf(client: Client, { deploymentId }: FarRun): Promise<Deployment> {
  return client.call('getDeployment', { params: { id: deploymentId } });
}

/** Waits until the service shows that a run's agent is silent. @returns what the deployment shows */
export function untilUnreachable(client: Client, run: FarRun): Promise<string> {
  return until(`${run.story} to be shown as unreachable`, async () => {
    const { status, waitingFor } = await deploymentOf(client, run);
    assert.equal(status, 'IN_PROGRESS');
    return waitingFor?.kind === 'agent' && waitingFor.text;
  });
}

/** Waits for the end, which a network in trouble delays by minutes. */
export async function untilOver(client: Client, run: FarRun): Promise<Deployment> {
  const deadline = performance.now() + patienceMilliseconds;
  for (;;) {
    const deployment = await deploymentOf(client, run);
    if (isTerminal(deployment.status)) return deployment;
    if (performance.now() > deadline)
      throw new Error(`${run.story} does not end: ${JSON.stringify(deployment)}`);
    await delay(pollMilliseconds);
  }
}

/** Waits until a run has ended well, and checks that nothing of it was lost or doubled. */
export async function checkUnharmed(client: Client, marks: Marks, run: FarRun): Promise<void> {
  const deployment = await untilOver(client, run);
  assert.equal(deployment.status, 'SUCCESS', deployment.error?.message);
  assert.equal(deployment.waitingFor, undefined);
  assert.equal(deployment.resourceCount, 2);
  assert.deepEqual(marks.of(run.story), ['first', middle, 'last'], 'everything was done once');
  const lines = (await wholeLog(client, run.deploymentId)).match(/line \d+ of the run$/gm) ?? [];
  const numbers = Array.from({ length: lineCount }, (_, at) => `line ${at + 1} of the run`);
  assert.deepEqual(lines, numbers, 'the log has each line once, in its order');
  const versions = await client.call('listStateVersions', { params: { id: run.environmentId } });
  assert.deepEqual(
    versions.map(({ standing }) => standing),
    ['current'],
    'the state of the run is the current one',
  );
}
