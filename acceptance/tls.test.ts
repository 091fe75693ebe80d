/** A service that speaks TLS itself, with a certificate of a private authority: its agents, its clients and its runs. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeAuthority } from '../agent/testing/certificates.ts';
import { cliProgram } from '../tools/programs/built-programs.ts';
import { startAgent } from './agents.ts';
import { findProgram, withoutTerraform } from './programs.ts';
import { createEnvironment, homeOf, until, untilEnd } from './runs.ts';
import { makeRepository, type RunningService, startService, trustAuthority } from './service.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../tools/launch.mjs', import.meta.url));
const needs = {
  skip: withoutTerraform || ((await findProgram('openssl')) === null && 'openssl is not on the PATH'),
};
const configuration = { 'main.tf': 'resource "terraform_data" "it" { input = "over TLS" }\n' };

async function deploy({ client, folder }: RunningService, name: string): Promise<void> {
  const { path } = await makeRepository(folder, name, configuration);
  const created = await createEnvironment(client, await homeOf(client), { repository: path, name });
  assert.equal((await untilEnd(client, created.deploymentId)).status, 'SUCCESS');
}

test('agents, the command line and runs work with a service that speaks TLS', needs, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'envarium-authority-'));
  t.after(() => rm(folder, { recursive: true }));
  const authority = makeAuthority(folder);
  const [cert, key] = [join(folder, 'server.pem'), join(folder, 'server.key')];
  trustAuthority(authority.file);
  // The local agent does not know the authority, and the certificate need not name the loopback address.
  const service = await startService({
    settings: { ENVARIUM_TLS_CERT_FILE: cert, ENVARIUM_TLS_KEY_FILE: key, ENVARIUM_LOG_LEVEL: 'info' },
  });
  t.after(() => service[Symbol.asyncDispose]());
  assert.match(service.url, /^https:\/\/127\.0\.0\.1:\d+$/);
  const ready = await fetch(`${service.url}/readyz`);
  assert.equal(ready.status, 200);
  assert.equal(ready.headers.get('strict-transport-security'), 'max-age=31536000');

  await t.test('the local agent', () => deploy(service, 'local'));

  await t.test('the command line, with the authority and without it', async () => {
    const list = (more: Record<string, string>) =>
      run(process.execPath, [cliProgram, 'environment', 'list', '--json'], {
        env: {
          PATH: process.env.PATH,
          HOME: folder,
          ENVARIUM_API_URL: service.url,
          ENVARIUM_API_KEY: service.key,
          ENVARIUM_API_SECRET: service.secret,
          ...more,
        },
      });
    for (const name of ['ENVARIUM_CA_FILE', 'NODE_EXTRA_CA_CERTS'])
      assert.match((await list({ [name]: authority.file })).stdout, /"local"/, name);
    await assert.rejects(list({}), /ENVARIUM_CA_FILE=<file>/);
  });

  await t.test('an agent elsewhere, with the authority', async () => {
    await using agent = await startAgent(service, {
      folder: service.folder,
      place: 1,
      urls: [service.url.replace('127.0.0.1', 'localhost')],
      settings: { ENVARIUM_CA_FILE: authority.file },
    });
    await until('both agents', async () => {
      const [found] = await service.client.call('listAgents');
      return (found?.processes ?? []).length === 2;
    });
    assert.doesNotMatch(agent.log(), /certificate/);
  });

  const withSs = { skip: (await findProgram('ss')) === null && 'needs ss' };
  await t.test('the port of the local agent leads to the agent protocol only', withSs, async () => {
    const { stdout } = await run('ss', ['-Hltnp']);
    const ports = stdout
      .split('\n')
      .filter((line) => line.includes(`pid=${service.process.pid},`))
      .map((line) => Number(/127\.0\.0\.1:(\d+)/.exec(line)?.[1]))
      .filter((port) => String(port) !== new URL(service.url).port && port > 0);
    assert.equal(ports.length, 1, stdout);
    for (const port of ports) {
      const at = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
      assert.equal((await at('/api/organizations')).status, 404);
      assert.equal((await at('/readyz')).status, 404);
      assert.equal((await at('/agent/v1/../../api/organizations')).status, 404);
      assert.equal((await at('/agent/v1/heartbeat')).status, 401);
    }
  });
});

test('a service whose certificate cannot be used does not start, and says which file', needs, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'envarium-authority-'));
  t.after(() => rm(folder, { recursive: true }));
  makeAuthority(folder);
  const cert = join(folder, 'broken.pem');
  await writeFile(cert, 'nothing');
  await assert.rejects(
    startService({
      settings: { ENVARIUM_TLS_CERT_FILE: cert, ENVARIUM_TLS_KEY_FILE: join(folder, 'server.key') },
    }),
    /ENVARIUM_TLS_CERT_FILE names .*broken\.pem, which contains no certificate/,
  );
});

test('the demo runs over TLS', needs, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'envarium-authority-'));
  t.after(() => rm(folder, { recursive: true }));
  const authority = makeAuthority(folder);
  const { stdout } = await run(process.execPath, [program, 'acceptance/demo/main.ts'], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ENVARIUM_TLS_CERT_FILE: join(folder, 'server.pem'),
      ENVARIUM_TLS_KEY_FILE: join(folder, 'server.key'),
      ENVARIUM_CA_FILE: authority.file,
    },
  });
  assert.match(stdout, /It listens on https:\/\/127\.0\.0\.1:\d+/);
  assert.match(stdout, /Drift status: OK/);
  assert.match(stdout, /Done: ending the service/);
});
