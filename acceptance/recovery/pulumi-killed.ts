/**
 * Updates of Pulumi of which a process is killed while a resource is created: by the end everything exists once, and
 * the next deployment continues.
 */
import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, test } from 'node:test';
import { pulumiFolder, withPulumi } from '../../agent/testing/pulumi/pulumi-folder.ts';
import { fileWorldSettings, openFolder } from '../journey/file-world.ts';
import { createEnvironment, deploy, destroyAndEnd, until, untilEnd, untilStatus, wholeLog } from '../runs.ts';
import { makeRepository } from '../service.ts';
import { isInDeployment, MortalService, type Victim } from './mortal-service.ts';
import { commandPid, runnerPid, sendSignal } from './processes.ts';

const code = `name: shop
runtime: yaml
config:
  world: { type: string }
  token: { type: string, secret: true }
resources:
  page:
    type: file:File
    properties: { path: "\${world}/page", content: page }
  key:
    type: file:File
    properties: { path: "\${world}/key", content: "\${token}", mode: wait }
    options: { dependsOn: ["\${page}"] }
outputs:
  key: \${key.path}
`;

/** Declares the tests. @param victims the processes that are killed */
export function killPulumi(victims: readonly Victim[]): void {
  describe('an update of Pulumi, killed while it creates a resource,', withPulumi, () => {
    const mortal = new MortalService({
      ...fileWorldSettings,
      PATH: [pulumiFolder(), process.env.PATH].join(delimiter),
    });

    const filesOf = async (world: string) =>
      (await readdir(world)).filter((name) => !name.endsWith('.gate')).sort();

    /** A first deployment that waits in its second resource. */
    async function waitingRun(name: string) {
      const world = await openFolder(mortal.folder, `world-${name}`);
      const repository = await makeRepository(mortal.folder, name, { 'Pulumi.yaml': code });
      const created = await createEnvironment(mortal.client, mortal.home, {
        type: 'pulumi',
        workspaceName: name,
        repository: repository.path,
        configurationChanges: [
          { name: 'PATH', value: [pulumiFolder(), '/usr/bin', '/bin'].join(delimiter) },
          { name: 'world', value: world, type: 1 },
          { name: 'token', value: 'a-token', type: 1, isSensitive: true },
        ],
      });
      // It is written before the provider creates anything.
      const checkpoint = join(
        ...[mortal.folder, 'data', 'work', created.id, 'state', '.pulumi', 'stacks', 'shop', `${name}.json`],
      );
      await until('the second resource', async () =>
        (await readFile(checkpoint, 'utf8').catch(() => '')).includes('file:index:File::key'),
      );
      assert.deepEqual(await filesOf(world), ['page']);
      return { ...created, world, command: await commandPid(mortal.running, created.id, /pulumi up/) };
    }

    /** The next deployment, and the end of everything. @returns its log */
    async function continued(id: string, world: string): Promise<string> {
      await writeFile(join(world, 'key.gate'), '');
      const next = await deploy(mortal.client, id);
      const done = await untilEnd(mortal.client, next.id);
      assert.equal(done.status, 'SUCCESS', done.error?.message);
      assert.deepEqual(await filesOf(world), ['key', 'page'], 'everything exists once');
      await destroyAndEnd(mortal.client, id);
      assert.deepEqual(await filesOf(world), []);
      return wholeLog(mortal.client, next.id);
    }

    for (const victim of victims.filter(isInDeployment))
      test(`the ${victim} is killed; the deployment fails, and the next one continues`, async () => {
        const { id, deploymentId, command, world } = await waitingRun(victim);
        sendSignal(victim === 'tool' ? command : await runnerPid(mortal.running, id), 'SIGKILL');
        const ended = await untilStatus(mortal.client, deploymentId);
        assert.match(ended.status, victim === 'tool' ? /^FAILURE$/ : /FAILURE$/, ended.error?.message);
        const log = await continued(id, world);
        // Without its runner, the tool is interrupted, and records what it has not created.
        if (victim === 'tool')
          assert.match(log, /stopped while creating urn:pulumi:tool::shop::file:index:File::key/);
      });

    for (const victim of victims.filter((each) => !isInDeployment(each)))
      test(`the ${victim} is killed; the deployment continues and succeeds`, async () => {
        const { id, deploymentId, world } = await waitingRun(victim);
        await mortal.kill(victim);
        await writeFile(join(world, 'key.gate'), '');
        const done = await untilEnd(mortal.client, deploymentId);
        assert.equal(done.status, 'SUCCESS', done.error?.message);
        await continued(id, world);
      });
  });
}
