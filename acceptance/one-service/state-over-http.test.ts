/**
 * The real tools outside of runs on the service's http state protocol: they lock, write, meet each other and
 * meet deployments.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { toolOf, toolsOfFamily } from '../family-tools.ts';
import { createEnvironment, deploy, deployNew, openGate, until, untilEnd, untilStatus } from '../runs.ts';
import { makeRepository } from '../service.ts';
import { joinOneService } from './join-one-service.ts';

const gated = (name: string) => `resource "terraform_data" "${name}" {
  provisioner "local-exec" { command = "until test -e $GATE; do sleep 0.05; done" }
}
`;
const simple = `resource "terraform_data" "it" { input = "one" }
output "it" { value = terraform_data.it.output }
`;

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

interface Started {
  readonly child: ChildProcess;
  readonly end: Promise<Ended>;
}

/** Folder of a person with their own tool. */
interface Desk {
  start(...args: string[]): Started;
  /** @returns the output of the tool; fails for a bad end */
  run(...args: string[]): Promise<string>;
  write(name: string, content: string): Promise<void>;
  readonly gate: string;
}

const one = await toolOf('state over http');
const service = await joinOneService();
const { client, folder, home } = service;

for (const { type, file: program, skip } of await toolsOfFamily())
  describe(`${type} outside of runs`, { skip }, () => {
    const idle = async () => {
      const { path } = await makeRepository(folder, `repository-${Math.random()}`, { 'main.tf': simple });
      return (await createEnvironment(client, home, { repository: path, preventAutoDeploy: true })).id;
    };
    const versions = (id: string) => client.call('listStateVersions', { params: { id } });
    const lockOf = (id: string) => client.call('getStateLock', { params: { id } });

    async function deskAt(environmentId: string, code: string): Promise<Desk> {
      const desk = join(folder, `desk-${Math.random()}`);
      await mkdir(desk);
      const gate = join(desk, 'gate');
      const address = `${service.url}/state/v1/environments/${environmentId}`;
      const backend = `terraform {\n  backend "http" {\n    address        = "${address}"\n    lock_address   = "${address}"\n    unlock_address = "${address}"\n  }\n}\n`;
      await writeFile(join(desk, 'backend.tf'), backend);
      await writeFile(join(desk, 'main.tf'), code);
      const start = (...args: string[]) => {
        const child = spawn(program, args, {
          cwd: desk,
          stdio: ['ignore', 'pipe', 'pipe'],
          env: {
            PATH: process.env.PATH,
            HOME: desk,
            GATE: gate,
            TF_IN_AUTOMATION: '1',
            CHECKPOINT_DISABLE: '1',
            TF_CLI_CONFIG_FILE: '/dev/null',
            TF_HTTP_USERNAME: service.key,
            TF_HTTP_PASSWORD: service.secret,
          },
        });
        let output = '';
        for (const stream of [child.stdout, child.stderr])
          stream.setEncoding('utf8').on('data', (part: string) => (output += part));
        const end = new Promise<Ended>((resolve) =>
          child.once('close', (exit) => resolve({ code: exit, output })),
        );
        return { child, end };
      };
      const run = async (...args: string[]) => {
        const { code: exit, output } = await start(...args).end;
        assert.equal(exit, 0, output);
        return output;
      };
      const write = (name: string, content: string) => writeFile(join(desk, name), content);
      await run('init', '-input=false', '-no-color');
      return { start, run, gate, write };
    }

    const apply = ['apply', '-auto-approve', '-input=false', '-no-color'] as const;

    test('the tool plans, applies, moves, pulls, pushes and destroys, and each lock creates one version', async () => {
      const id = await idle();
      const desk = await deskAt(id, simple);
      await desk.run('plan', '-input=false', '-no-color');
      assert.deepEqual(await versions(id), []);
      await desk.run(...apply);
      assert.equal((await desk.run('output', '-no-color', '-raw', 'it')).trim(), 'one');
      await desk.run('state', 'mv', 'terraform_data.it', 'terraform_data.moved');
      const pulled = JSON.parse(await desk.run('state', 'pull')) as {
        serial: number;
        resources: { name: string }[];
      };
      assert.deepEqual(
        pulled.resources.map(({ name }) => name),
        ['moved'],
      );
      await desk.write('pushed.tfstate', JSON.stringify({ ...pulled, serial: pulled.serial + 5 }));
      await desk.run('state', 'push', 'pushed.tfstate');
      await desk.write('old.tfstate', JSON.stringify({ ...pulled, serial: 0 }));
      const refused = await desk.start('state', 'push', '-force', 'old.tfstate').end;
      assert.deepEqual([refused.code, /409/.test(refused.output)], [1, true], refused.output);
      await desk.write(
        'main.tf',
        simple.replaceAll('"it" {', '"moved" {').replaceAll('data.it.', 'data.moved.'),
      );
      await desk.run('destroy', '-auto-approve', '-input=false', '-no-color');
      const listed = await versions(id);
      assert.deepEqual(
        listed.map(({ origin, createdBy, standing, resourceCount }) => [
          origin,
          createdBy,
          standing,
          resourceCount,
        ]),
        [
          ['http', service.key, 'current', 0],
          ['http', service.key, 'superseded', 1],
          ['http', service.key, 'superseded', 1],
          ['http', service.key, 'superseded', 1],
        ],
      );
      assert.equal(await lockOf(id), null);
    });

    test('a second run at the same time gets the lock error, or waits for the lock if configured to do so', async () => {
      const id = await idle();
      const [one, two] = [await deskAt(id, gated('slow')), await deskAt(id, gated('slow'))];
      const first = one.start(...apply);
      const lock = await until('the lock', () => lockOf(id));
      const refused = await two.start(...apply).end;
      assert.equal(refused.code, 1);
      assert.match(refused.output, /Error acquiring the state lock/);
      assert.match(refused.output, new RegExp(lock.lockId));
      const patient = two.start('plan', '-lock-timeout=60s', '-input=false', '-no-color');
      await writeFile(one.gate, '');
      assert.equal((await first.end).code, 0);
      const waited = await patient.end;
      assert.deepEqual([waited.code, /No changes/.test(waited.output)], [0, true], waited.output);
    });

    if (type !== one.type) return;

    test('a killed tool leaves its lock, and deployments wait until the tool or a person releases it', async () => {
      const id = await idle();
      const desk = await deskAt(id, gated('slow'));
      for (const who of ['the tool', 'a person']) {
        const killed = desk.start(...apply);
        const lock = await until('the lock', () => lockOf(id));
        killed.child.kill('SIGKILL');
        await writeFile(desk.gate, '');
        await killed.end;
        assert.equal((await lockOf(id))?.lockId, lock.lockId);
        const deployment = await deploy(client, id, { userRequiresApproval: false });
        assert.equal(deployment.status, 'QUEUED');
        const { waitingFor } = await client.call('getDeployment', { params: { id: deployment.id } });
        assert.deepEqual([waitingFor?.kind, waitingFor?.id], ['lock', lock.lockId]);
        if (who === 'the tool') await desk.run('force-unlock', '-force', lock.lockId);
        else
          await client.call('freeStateLock', {
            params: { id },
            body: { lockId: lock.lockId, reason: 'it was killed' },
          });
        await untilEnd(client, deployment.id);
        await rm(desk.gate, { force: true });
        await desk.write('main.tf', gated(`slow_${who.replace(' ', '_')}`));
      }
    });

    test('the tool is refused while a deployment runs, and continues afterwards', async () => {
      const { path } = await makeRepository(folder, `gated-${Math.random()}`, {
        'main.tf':
          'resource "terraform_data" "it" {\n  provisioner "local-exec" { command = "until test -e gate; do sleep 0.05; done" }\n}\n',
      });
      const { id, deploymentId } = await createEnvironment(client, home, { repository: path });
      const desk = await deskAt(id, 'resource "terraform_data" "it" {}\n');
      await untilStatus(client, deploymentId, 'IN_PROGRESS');
      const refused = await desk.start('plan', '-input=false', '-no-color').end;
      assert.equal(refused.code, 1);
      const output = refused.output.replaceAll(/\s+/g, ' ');
      assert.match(
        output,
        new RegExp(
          `already locked: ID=The deploy ${deploymentId} by .* has held the state since .* and is IN_PROGRESS`,
        ),
      );
      await until('the apply', async () =>
        (await client.call('listSteps', { params: { deploymentLogId: deploymentId } })).some(
          ({ name, status }) => name === 'tf:apply' && status === 'IN_PROGRESS',
        ),
      );
      await openGate(service, id);
      await untilEnd(client, deploymentId);
      assert.match(await desk.run('plan', '-input=false', '-no-color'), /No changes/);
    });

    test('a tool reads the state after a rollback, and may read outputs of another environment', async () => {
      const { path } = await makeRepository(folder, `rolled-${Math.random()}`, { 'main.tf': simple });
      const { id } = await deployNew(client, home, { repository: path });
      const desk = await deskAt(id, simple.replace('one', 'two'));
      await desk.run(...apply);
      const [, first] = await versions(id);
      await client.call('rollBackState', { params: { id: first?.id ?? '' }, body: { comment: 'back' } });
      assert.equal((await desk.run('output', '-no-color', '-raw', 'it')).trim(), 'one');
      const reader = await deskAt(
        await idle(),
        `data "terraform_remote_state" "other" {
  backend = "http"
  config = {
    address  = "${service.url}/state/v1/environments/${id}"
    username = "${service.key}"
    password = "${service.secret}"
  }
}
output "read" { value = data.terraform_remote_state.other.outputs.it }
`,
      );
      await reader.run(...apply);
      assert.equal((await reader.run('output', '-no-color', '-raw', 'read')).trim(), 'one');
    });
  });
