/**
 * Instructions of docs/operate/running.md: the unit, the reverse proxy and the backup, taken from the page itself.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cliProgram } from '../tools/programs/built-programs.ts';
import { freePort } from '../tools/suite/free-port.ts';
import { startNginx } from './nginx.ts';
import { findProgram } from './programs.ts';
import { createEnvironment, deployAndEnd, deployNew, homeOf, openGate, until } from './runs.ts';
import { makeRepository, removeScratch, scratchFolder, startService } from './service.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

/** The first block of a kind on the page. */
async function blockOf(kind: string): Promise<string> {
  const page = await readFile(join(root, 'docs', 'operate', 'running.md'), 'utf8');
  const block = new RegExp(`^\`\`\`${kind}\n(.*?)^\`\`\``, 'ms').exec(page)?.[1];
  assert.ok(block, `docs/operate/running.md has no block of ${kind}`);
  return block;
}

async function reasonWithout(...programs: string[]): Promise<string | false> {
  const found = await Promise.all(programs.map(findProgram));
  const missing = programs.filter((_, index) => found[index] === null);
  return missing.length > 0 ? `needs ${missing.join(', ')}` : false;
}

/** Settings of a unit with which bubblewrap fails, or runs do not survive a restart. */
const unfitForRuns =
  /^(PrivateTmp|ProtectKernel\w+|ProcSubset|ProtectProc|RestrictNamespaces|SystemCallFilter|PrivateUsers)=/m;

test('systemd accepts the unit', { skip: await reasonWithout('systemd-analyze') }, async (t) => {
  const folder = await scratchFolder();
  t.after(() => removeScratch(folder));
  const unit = join(folder, 'envarium.service');
  const text = (await blockOf('ini')).replaceAll('/opt/envarium', root);
  await writeFile(unit, text.replace('User=envarium', 'User=daemon'));
  const { stderr } = await run('systemd-analyze', ['verify', '--man=no', unit]);
  assert.deepEqual(
    stderr.split('\n').filter((line) => line.includes(unit)),
    [],
  );
  assert.match(text, /^KillMode=process$/m);
  assert.doesNotMatch(text, unfitForRuns);
});

test('the command line follows a log live over TLS behind the reverse proxy', {
  skip: await reasonWithout('nginx', 'openssl', 'terraform'),
}, async (t) => {
  const service = await startService({
    settings: { ENVARIUM_TRUSTED_PROXIES: '127.0.0.1', ENVARIUM_LOG_LEVEL: 'warn' },
  });
  t.after(() => service[Symbol.asyncDispose]());
  const folder = join(service.folder, 'proxy');
  await mkdir(folder);
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  await run('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    ...subject,
    '-keyout',
    key,
    '-out',
    certificate,
  ]);
  const port = await freePort();
  const block = (await blockOf('nginx'))
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace('/etc/envarium/tls/certificate.pem', certificate)
    .replace('/etc/envarium/tls/key.pem', key)
    .replace('http://127.0.0.1:3000', service.url);
  const proxy = await startNginx(folder, port, block);
  t.after(() => proxy[Symbol.asyncDispose]());
  const home = await homeOf(service.client);
  const script = 'echo halfway; until [ -e gate ]; do sleep 0.05; done';
  const { path } = await makeRepository(service.folder, 'live', {
    'main.tf': `resource "terraform_data" "it" {\n  provisioner "local-exec" { command = ${JSON.stringify(script)} }\n}\n`,
  });
  const created = await createEnvironment(service.client, home, { repository: path });
  const follower = spawn(process.execPath, [cliProgram, 'logs', created.deploymentId, '--follow'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      HOME: service.folder,
      NODE_EXTRA_CA_CERTS: certificate,
      ENVARIUM_API_URL: `https://127.0.0.1:${port}`,
      ENVARIUM_API_KEY: service.key,
      ENVARIUM_API_SECRET: service.secret,
    },
  });
  let printed = '';
  follower.stdout.setEncoding('utf8').on('data', (part: string) => (printed += part));
  const ended = once(follower, 'exit');
  // It comes through before the run can end: the gate is opened only then.
  await until('the line that the run waits behind', () => printed.includes('(local-exec): halfway'));
  await openGate(service, created.id);
  assert.equal((await ended)[0], 0, printed);
  assert.match(printed, /Apply complete/);
});

test('the documented backup restores everything, on another machine too', {
  skip: await reasonWithout('terraform'),
}, async (t) => {
  const folder = await scratchFolder();
  t.after(() => removeScratch(folder));
  const settings = { ENVARIUM_LOG_LEVEL: 'warn' };
  const files = {
    'main.tf':
      'variable "password" { sensitive = true }\nresource "terraform_data" "it" { input = sha256(var.password) }\n',
  };
  const secret = 'kept-over-the-restore';
  await using first = await startService({ folder, settings });
  const { path } = await makeRepository(folder, 'kept', files);
  const { id } = await deployNew(first.client, await homeOf(first.client), {
    repository: path,
    configurationChanges: [{ name: 'password', value: secret, type: 1, isSensitive: true }],
  });
  await first.stop();
  const backup = join(folder, 'backup');
  await run('cp', ['-a', '--', join(folder, 'data'), backup]);
  await rm(join(folder, 'data'), { recursive: true });
  await rename(backup, join(folder, 'data'));
  await using second = await startService({
    folder,
    settings: { ...settings, ENVARIUM_BOOTSTRAP_API_SECRET: first.secret },
  });
  assert.equal((await second.client.call('getEnvironment', { params: { id } })).status, 'ACTIVE');
  const deployment = await deployAndEnd(second.client, id);
  assert.deepEqual(
    deployment.planSummary,
    { added: 0, changed: 0, destroyed: 0 },
    'variable and state are what they were',
  );
});
