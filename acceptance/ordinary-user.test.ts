/**
 * Without root: the whole service of an ordinary user, and an ordinary user's agent of another user's service.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { agentProgram } from '../tools/programs/built-programs.ts';
import { ancestor, processes, running } from './attack.ts';
import { findProgram } from './programs.ts';
import {
  approveAndEnd,
  createEnvironment,
  deploy,
  destroyAndEnd,
  homeOf,
  openGate,
  until,
  untilEnd,
  untilStatus,
} from './runs.ts';
import {
  makeRepository,
  ordinaryUid,
  type RunningService,
  removeScratch,
  scratchFolder,
  startService,
  withoutRoot,
} from './service.ts';

const missing = (
  await Promise.all(
    ['terraform', 'bwrap', ...(process.getuid?.() === 0 ? ['setpriv'] : [])].map(async (name) =>
      (await findProgram(name)) ? '' : name,
    ),
  )
).filter(Boolean);

const configuration = (more = '') => `resource "terraform_data" "it" { input = "kept" }
output "uid" { value = terraform_data.it.output }
${more}`;

/** An agent of an ordinary user, in a folder of its own. */
async function startAgent(service: RunningService, name: string): Promise<ChildProcess> {
  const [agent] = await service.client.call('listAgents');
  assert.ok(agent);
  const { secret } = await service.client.call('createAgentSecret', {
    params: { agentKey: agent.agentKey },
    body: { description: name },
  });
  const folder = join(service.folder, name);
  const secretFile = join(folder, 'secret');
  await mkdir(folder);
  await writeFile(secretFile, secret, { mode: 0o600 });
  if (process.getuid?.() === 0)
    for (const path of [folder, secretFile]) await chown(path, ordinaryUid, ordinaryUid);
  const [program, ...args] = [...withoutRoot(), process.execPath, agentProgram];
  return spawn(program ?? '', args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      ENVARIUM_URL: service.url,
      ENVARIUM_AGENT_KEY: agent.agentKey,
      ENVARIUM_AGENT_SECRET_FILE: secretFile,
      ENVARIUM_SPOOL_DIR: join(folder, 'spool'),
      ENVARIUM_LOG_LEVEL: 'warn',
    },
  });
}

describe('without root', { skip: missing.length > 0 ? `needs ${missing.join(', ')}` : false }, () => {
  test('the whole service plans, waits, applies, survives a killed run and destroys', async (t) => {
    const service = await startService({ isOrdinary: true, settings: { ENVARIUM_LOG_LEVEL: 'warn' } });
    t.after(() => service[Symbol.asyncDispose]());
    const { client } = service;
    const home = await homeOf(client);
    const repository = await makeRepository(service.folder, 'life', { 'main.tf': configuration() });
    const { id, deploymentId } = await createEnvironment(client, home, {
      repository: repository.path,
      requiresApproval: true,
    });
    const applied = await approveAndEnd(client, deploymentId);
    assert.deepEqual(applied.output?.['uid'], { value: 'kept', sensitive: false, type: 'string' });

    await repository.commit(running('touch started; until [ -e gate ]; do sleep 0.05; done\n'));
    const second = await deploy(client, id, { userRequiresApproval: false });
    const shell = await until('the script', async () =>
      (await processes()).find(({ command }) => command.startsWith('sh ') && command.includes('script.sh')),
    );
    const runner = ancestor(await processes(), shell, ' runner');
    assert.ok(runner && runner.uid !== 0);
    process.kill(runner.pid, 'SIGKILL');
    const killed = await untilStatus(client, second.id);
    assert.notEqual(killed.status, 'SUCCESS');
    assert.deepEqual(
      (await processes()).filter(({ command }) => command.includes('script.sh')),
      [],
      'the tool ends with its runner',
    );

    const third = await deploy(client, id);
    await until('the script once more', async () =>
      (await processes()).find(({ command }) => command.startsWith('sh ') && command.includes('script.sh')),
    );
    await openGate(service, id);
    await untilEnd(client, third.id);
    await destroyAndEnd(client, id);
    assert.equal((await client.call('getEnvironment', { params: { id } })).status, 'INACTIVE');
  });

  test('a separate agent runs the jobs of a service elsewhere', async (t) => {
    const folder = await scratchFolder();
    const service = await startService({
      folder,
      settings: { ENVARIUM_BUILT_IN_AGENT: 'false', ENVARIUM_LOG_LEVEL: 'warn' },
    });
    const home = await homeOf(service.client);
    const agent = await startAgent(service, 'agent');
    t.after(async () => {
      agent.kill('SIGTERM');
      if (agent.exitCode === null) await once(agent, 'exit');
      await service.stop();
      // A runner that waited for an order may still be ending.
      await removeScratch(folder);
    });
    const script = '[ "$(id -u)" != 0 ] && grep -q "NoNewPrivs:.1" /proc/self/status\n';
    const { path } = await makeRepository(folder, 'elsewhere', running(script));
    const { deploymentId } = await createEnvironment(service.client, home, {
      repository: path,
      requiresApproval: true,
    });
    assert.equal((await approveAndEnd(service.client, deploymentId)).resourceCount, 2);
  });
});
