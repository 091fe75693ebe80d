/** A task that prints one line without an end, of any length, and what agent and service make of it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { logBytes } from '../follow.ts';
import { createEnvironment, deploy, homeOf, untilStatus } from '../runs.ts';
import { makeRepository, type RunningService, startService } from '../service.ts';
import { agentPid } from './processes.ts';

const megabyte = 1024 * 1024;
const secret = 'not-to-be-seen-in-any-line';
const mostGrowthMegabytes = 200;
const patienceMilliseconds = 900_000;

/** The secret is in the line at every size that a reader may have pieces of, and at the end. */
const script = (megabytes: number) => `
x() { head -c "$1" /dev/zero | tr '\\0' x; }
for at in $(seq 1 20); do x $((65536 * at - 13)); printf %s "$SECRET"; done
x $((${megabytes} * ${megabyte}))
printf %s "$SECRET"
printf 'the end'
`;

/** Memory of a process in megabytes. */
async function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024;
}

interface Stored {
  bytes: number;
  readonly head: string;
  readonly tail: string;
  hasSecret: boolean;
}

/** Reads the log as it is streamed, without keeping it. */
async function readLog({ client }: RunningService, id: string, step: string): Promise<Stored> {
  const stored = { bytes: 0, head: '', tail: '', hasSecret: false };
  const signal = AbortSignal.timeout(patienceMilliseconds);
  for await (const event of client.stream('streamDeployment', { params: { id }, signal })) {
    if (event.event !== 'log' || event.data.step !== step) continue;
    assert.equal(event.data.offset, stored.bytes, 'the pieces follow each other');
    const text = logBytes(event).toString('latin1');
    stored.bytes += text.length;
    if (stored.head.length < megabyte) stored.head += text;
    const around = stored.tail + text;
    stored.hasSecret ||= around.includes(secret);
    stored.tail = around.slice(-4096);
  }
  return stored;
}

/** @param megabytes of the line @param limitMegabytes of the log of a step */
export async function checkLongLine(megabytes: number, limitMegabytes: number): Promise<void> {
  await using service = await startService({
    settings: { ENVARIUM_LOG_LEVEL: 'warn', ENVARIUM_STEP_LOG_LIMIT_MB: String(limitMegabytes) },
  });
  const { client } = service;
  const { path } = await makeRepository(service.folder, 'line', { 'main.tf': '' });
  const { id, deploymentId } = await createEnvironment(client, await homeOf(client), {
    repository: path,
    configurationChanges: [{ name: 'SECRET', value: secret, type: 0, isSensitive: true }],
  });
  assert.equal((await untilStatus(client, deploymentId)).status, 'SUCCESS');
  const pids = [service.process.pid ?? 0, await agentPid(service)];
  const before = await Promise.all(pids.map((pid) => memoryOf(pid, 'VmRSS')));

  const task = await deploy(client, id, { deploymentType: 'task', taskPayload: script(megabytes) });
  const log = await readLog(service, task.id, 'task:run');
  const done = await client.call('getDeployment', { params: { id: task.id } });
  assert.equal(done.status, 'SUCCESS', done.error?.message);
  const peak = await Promise.all(pids.map((pid) => memoryOf(pid, 'VmHWM')));
  const [server = Number.NaN, agent = Number.NaN] = peak.map((each, at) => each - (before[at] ?? 0));
  console.log(`${megabytes} MB: server + ${server.toFixed(0)} MB, agent + ${agent.toFixed(0)} MB`);

  assert.ok(!log.hasSecret, 'the secret is masked, wherever it is cut');
  assert.match(log.head, /x+\*+x/);
  assert.match(log.tail, /x\*+the end$/);
  assert.ok(log.bytes <= limitMegabytes * megabyte + 1024, `${log.bytes} bytes are kept`);
  assert.ok(log.bytes > (limitMegabytes - 1) * megabyte);
  assert.ok(server < mostGrowthMegabytes, `the server needs ${server} MB more`);
  assert.ok(agent < mostGrowthMegabytes, `the agent needs ${agent} MB more`);
  const page = await client.call('getStepLog', { params: { deploymentLogId: task.id, name: 'task:run' } });
  assert.ok(JSON.stringify(page).length < 16 * megabyte, 'a page of the log is of limited size');
}
