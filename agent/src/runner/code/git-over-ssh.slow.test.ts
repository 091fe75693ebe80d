import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { knownHostsFile } from '#guards/known-hosts.ts';
import type { Job } from '#protocol/messages/job.ts';
import { startLfsServer } from '../../../testing/lfs-server.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import {
  createSetup,
  type RunnerSetup,
  withBubblewrap,
  withTerraform,
} from '../../../testing/runner-setup.ts';
import { makeSshKey, missingSshServer, startSshServer } from '../../../testing/ssh-server.ts';
import { findProgram } from '../../processes/programs.ts';

const needs = { skip: withTerraform.skip || missingSshServer };
const server = missingSshServer ? null : await startSshServer();
after(() => server?.[Symbol.asyncDispose]());
const one = 'resource "terraform_data" "one" {}\n';

function source(setup: RunnerSetup, changes: Partial<Job['source']> = {}): Job['source'] {
  if (server === null) throw new Error('no server');
  const ssh = { keys: [server.key], knownHosts: knownHostsFile([server.knownHosts.trim()]) };
  return {
    repository: `${server.address}${setup.repository}`,
    revision: 'main',
    httpHosts: [],
    localPaths: [],
    ssh,
    ...changes,
  };
}

/** A second repository of the setup. @returns its absolute path */
export function repositoryBeside(setup: RunnerSetup, name: string, files: Record<string, string>): string {
  const path = join(dirname(setup.repository), name);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-C', path, ...args], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
  mkdirSync(path, { recursive: true });
  git('init', '-q', '-b', 'main');
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), content);
  }
  git('add', '-A');
  git('commit', '-q', '-m', 'first');
  return path;
}

async function failure(setup: RunnerSetup, changes: Partial<Job['source']>): Promise<string> {
  return failureMessageOf(await setup.run(setup.job({ source: source(setup, changes) })));
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function assertNowhere(folder: string, secret: string, except: string[] = []): void {
  for (const file of filesBelow(folder).filter((name) => !except.includes(name)))
    assert.equal(readFileSync(file).includes(secret), false, `${file} holds the key`);
}

async function clones(t: TestContext, options: { asOrdinaryUser?: boolean } = {}): Promise<void> {
  const setup = createSetup(t, { 'main.tf': one }, options);
  const commit = setup.git('rev-parse', 'HEAD');
  setup.commit({ 'main.tf': `${one}# later\n` });
  for (const revision of ['main', commit, commit.slice(0, 8)]) {
    const ran = await expectResult('planned', setup.run(setup.job({ source: source(setup, { revision }) })));
    assert.equal(ran.outcome.commit === commit, revision !== 'main');
    const body = server?.key.split('\n')[1] ?? '';
    assertNowhere(ran.spool.folder, body, [ran.spool.job]);
    assertNowhere(setup.workFolder, body);
  }
}

test('a branch and a commit are read over ssh, and the key is left nowhere', needs, (t) => clones(t));
test(
  'a branch and a commit are read over ssh by a user other than root',
  { skip: needs.skip || withBubblewrap.skip },
  (t) => clones(t, { asOrdinaryUser: true }),
);

test('the short form of an address is accepted', needs, async (t) => {
  const setup = createSetup(t, { 'main.tf': one });
  // The short form has no port: the refusal shows the request.
  const message = await failure(setup, {
    repository: `${server?.user}@127.0.0.1:${setup.repository}`,
    ssh: { keys: [], knownHosts: '' },
  });
  assert.match(
    message,
    /^repository \S+@127\.0\.0\.1:\/.*(does not answer|host key of 127\.0\.0\.1 is not known)/,
  );
});

test('an unknown host is refused with instructions for adding it', needs, async (t) => {
  const setup = createSetup(t, { 'main.tf': one });
  const message = await failure(setup, {
    ssh: { keys: [server?.key ?? ''], knownHosts: knownHostsFile([]) },
  });
  assert.match(
    message,
    /^repository .*: the host key of 127\.0\.0\.1:\d+ is not known: .*"ssh-keyscan -p \d+ 127\.0\.0\.1".*ENVARIUM_GIT_KNOWN_HOSTS_FILE$/,
  );
});

test('a host whose key has changed is refused', needs, async (t) => {
  const setup = createSetup(t, { 'main.tf': one });
  const knownHosts = `[127.0.0.1]:${server?.port} ${makeSshKey().publicKey}\n`;
  const message = await failure(setup, { ssh: { keys: [server?.key ?? ''], knownHosts } });
  assert.match(
    message,
    /^repository .*answered with a different host key from the known one, and nothing was read/,
  );
});

test('missing, refused and unusable keys are reported', needs, async (t) => {
  const setup = createSetup(t, { 'main.tf': one });
  const knownHosts = server?.knownHosts ?? '';
  const withKeys = (...keys: string[]) => failure(setup, { ssh: { keys, knownHosts } });
  assert.match(
    await withKeys(),
    /^repository .*requires an ssh key, and the environment has none for 127\.0\.0\.1:\d+/,
  );
  assert.match(
    await withKeys(makeSshKey().privateKey),
    /^sshKeys: 127\.0\.0\.1:\d+ does not accept any key of the environment for the user/,
  );
  assert.match(await withKeys(makeSshKey('words').privateKey), /^sshKeys: .*passphrase/);
  assert.match(await withKeys('garbage'), /^sshKeys: .*not a complete private key/);
});

test('a missing repository or revision is reported over ssh', needs, async (t) => {
  const setup = createSetup(t, { 'main.tf': one });
  assert.match(
    await failure(setup, { repository: `${server?.address}/nowhere/code` }),
    /^repository .*does not exist \(or this key has no access to it\)/,
  );
  assert.match(await failure(setup, { revision: 'none' }), /^revision "none" does not exist/);
  assert.match(await failure(setup, { revision: 'f'.repeat(40) }), /^revision "f{40}" does not exist/);
});

test('a host that does not answer is reported', needs, async (t) => {
  const setup = createSetup(t, { 'main.tf': one });
  const closing = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
  t.after(() => closing.close());
  await new Promise((resolve) => closing.once('listening', resolve));
  for (const port of [(closing.address() as AddressInfo).port, 1])
    assert.match(
      await failure(setup, { repository: `ssh://git@127.0.0.1:${port}/code` }),
      /^repository .*does not answer/,
    );
});

async function loadsModules(t: TestContext, options: { asOrdinaryUser?: boolean } = {}): Promise<void> {
  const setup = createSetup(t, { 'main.tf': one }, options);
  const module = repositoryBeside(setup, 'module', {
    'net/main.tf': 'output "name" {\n  value = "from-module"\n}\n',
  });
  setup.commit({
    'main.tf': `module "net" {\n  source = "git::${server?.address}${module}//net?ref=main"\n}\noutput "name" {\n  value = module.net.name\n}\n`,
  });
  const ran = await setup.run(setup.job({ source: source(setup) }));
  assert.equal(ran.outcome.result, 'planned', `${JSON.stringify(ran.outcome)} ${ran.log('tf:init')}`);
  assertNowhere(setup.workFolder, server?.key.split('\n')[1] ?? '');
  const applied = await expectResult('applied', setup.run(setup.applyJob(ran, { onOtherMachine: true })));
  assert.equal(applied.outcome.outputs?.name?.value, 'from-module');
}

test('a tool loads modules over ssh, in a plan and in an apply elsewhere', needs, (t) => loadsModules(t));
test('a tool loads modules over ssh in the sandbox', { skip: needs.skip || withBubblewrap.skip }, (t) =>
  loadsModules(t, { asOrdinaryUser: true }),
);

test('the host of a module is not shown the key of the repository', needs, async (t) => {
  await using other = await startSshServer();
  const setup = createSetup(t, { 'main.tf': one });
  const module = repositoryBeside(setup, 'module', { 'main.tf': '' });
  setup.commit({ 'main.tf': `module "net" {\n  source = "git::${other.address}${module}"\n}\n` });
  const ssh = {
    keys: [server?.key ?? '', other.key],
    knownHosts: `${server?.knownHosts}${other.knownHosts}`,
  };
  const { outcome } = await setup.run(setup.job({ source: source(setup, { ssh }) }));
  assert.match(
    outcome.error?.message ?? '',
    /the environment's\s+keys\s+are\s+for\s+127\.0\.0\.1:\d+,\s+and\s+not\s+used\s+for\s+127\.0\.0\.1:\d+/,
  );
  assert.deepEqual(other.commands(), []);
});

test('the keys of a repository on the web are used for modules over ssh', needs, async (t) => {
  const setup = createSetup(t, { 'main.tf': one });
  const module = repositoryBeside(setup, 'module', {
    'main.tf': 'output "name" {\n  value = "from-module"\n}\n',
  });
  setup.commit({ 'main.tf': `module "net" {\n  source = "git::${server?.address}${module}"\n}\n` });
  const { outcome } = await setup.run(
    setup.job({
      source: source(setup, { repository: setup.repository, localPaths: [dirname(setup.repository)] }),
    }),
  );
  assert.equal(outcome.result, 'planned', JSON.stringify(outcome));
});

const needsLfs = { skip: needs.skip || (findProgram('git-lfs') === null ? 'needs git-lfs' : false) };

test('a sparse clone over ssh includes LFS files and can be applied elsewhere', needsLfs, async (t) => {
  await using files = await startLfsServer();
  const answer = JSON.stringify({ href: files.address });
  await using lfs = await startSshServer({
    commands: { 'git-lfs-authenticate': `printf '%s' '${answer}'` },
  });
  const setup = createSetup(t, {
    '.gitattributes': '*.bin filter=lfs\n',
    'live/main.tf': 'output "text" {\n  value = file("../data/one.bin")\n}\n',
    'data/one.bin': files.keep('content of one'),
    'other/two.bin': files.keep('content of two'),
  });
  setup.git('config', 'uploadpack.allowFilter', 'true');
  const environment = [
    { name: 'ENVARIUM_GIT_CLONE_ARGS', value: '--depth=1 --filter=blob:none --sparse', isSensitive: false },
  ];
  const job = setup.job({
    source: source(setup, {
      repository: `${lfs.address}${setup.repository}`,
      path: 'live',
      ssh: { keys: [lfs.key], knownHosts: lfs.knownHosts },
    }),
    variables: { environment, terraform: [] },
  });
  const ran = await expectResult('planned', setup.run(job));
  assert.match(ran.log('git:clone'), /Sparse checkout of live, data\n.*LFS: fetching 1 file from ssh/s);
  const applied = await setup.run(setup.applyJob(ran, { onOtherMachine: true }));
  assert.equal(applied.outcome.outputs?.text?.value, 'content of one', JSON.stringify(applied.outcome));
  assert.equal(files.requests.filter(({ what }) => what.startsWith('GET')).length, 1);
});
