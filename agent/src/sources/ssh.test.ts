import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import {
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { explainGitFailure } from '#guards/git/git-errors.ts';
import { keysFor } from '#guards/git/repository-access.ts';
import { startSsh } from '#guards/git/ssh.ts';
import { readSshAddress, type SshAddress } from '#guards/ssh-address.ts';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { createCheckoutSetup } from '../../testing/checkout.ts';
import { makeSshKey, missingSshServer, type SshServer, startSshServer } from '../../testing/ssh-server.ts';
import { openSshGate } from './ssh-gate.ts';

const needs = { skip: missingSshServer };
const needsRoot = {
  skip:
    missingSshServer ||
    (process.getuid?.() === 0 ? false : 'needs root: only then runs have a user of their own'),
};
const address = (text: string) => readSshAddress(text) as SshAddress;

function privateFolder(t: TestContext): string {
  const folder = temporaryFolder(t, 'ssh-');
  mkdirSync(join(folder, 'own'), { mode: 0o700 });
  chmodSync(folder, 0o711);
  return folder;
}

test('keys belong to the host of the repository, with its port', () => {
  const ssh = { keys: ['k'], knownHosts: '' };
  const of = (repository: string, host: string) =>
    keysFor({ repository, httpHosts: [], localPaths: ['/srv'], ssh }, address(`ssh://git@${host}/x`)).length;
  assert.equal(of('git@one.example:a/b', 'one.example'), 1);
  assert.equal(of('ssh://git@one.example:22/a/b', 'ONE.example'), 1);
  assert.equal(of('git@one.example:a/b', 'one.example:2222'), 0);
  assert.equal(of('git@one.example:a/b', 'two.example'), 0);
  assert.equal(of('https://one.example/a/b', 'two.example'), 1);
});

test(
  'a host that accepts a connection and stays silent times out, and no key is left behind',
  needs,
  async (t) => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
    t.after(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    await new Promise((resolve) => silent.once('listening', resolve));
    const folder = join(privateFolder(t), 'own');
    const silentAddress = address(`ssh://git@127.0.0.1:${(silent.address() as AddressInfo).port}/x`);
    const call = { address: silentAddress, keys: [makeSshKey().privateKey], knownHosts: '' };
    const child = startSsh(
      { ssh: '/usr/bin/ssh', launcher: [], folder },
      { ...call, service: 'git-upload-pack' },
      'pipe',
      1,
    );
    let output = '';
    child.stderr?.on('data', (text: Buffer) => (output += text.toString()));
    await new Promise((resolve) => child.once('close', resolve));
    assert.match(
      explainGitFailure(output, { repository: 'git@host:x', access: { kind: 'ssh', ...call } }),
      /does not answer/,
      output,
    );
    assert.deepEqual(readdirSync(folder), []);
  },
);

test('a commit is found on a server with only the older protocol', needs, async (t) => {
  const setup = createCheckoutSetup(t);
  await using server = await startSshServer({ acceptsProtocol: false });
  const code = setup.repository('code', { 'main.tf': '# first\n' });
  const first = code.git('rev-parse', 'HEAD');
  code.commit({ 'main.tf': '# later\n' });
  const ssh = { keys: [server.key], knownHosts: server.knownHosts };
  const { read } = await setup.checkOut(
    setup.source(`${server.address}${code.path}`, { revision: first, ssh }),
  );
  assert.equal(read('main.tf'), '# first\n');
});

/** Runs the gate's program as git would. */
function callGate(
  environment: Readonly<Record<string, string>>,
  args: string[],
  uid?: number,
): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve) => {
    const child = spawn(environment.GIT_SSH ?? '', args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: '/',
      env: {},
      ...(uid === undefined ? {} : { uid, gid: uid }),
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    child.once('error', (error) => resolve({ code: null, text: error.message }));
    child.once('close', (code) => resolve({ code, text }));
  });
}

async function gateFor(t: TestContext, server: SshServer, slotUid: number | null) {
  const folder = privateFolder(t);
  return openSshGate({
    source: {
      repository: `${server.address}/code`,
      httpHosts: [],
      localPaths: [],
      ssh: { keys: [server.key], knownHosts: server.knownHosts },
    },
    programs: { ssh: '/usr/bin/ssh', launcher: [], folder: join(folder, 'own') },
    folder: join(folder, 'gate'),
    sharedFolder: folder,
    slotUid,
  });
}

test('the gate reads repositories and does nothing else', needs, async (t) => {
  await using server = await startSshServer();
  const gate = await gateFor(t, server, null);
  const to = (...args: string[]) => callGate(gate.environment, args);
  const here = ['-o', 'SendEnv=GIT_PROTOCOL', '-p', String(server.port), `${server.user}@127.0.0.1`];
  for (const command of [
    "git-receive-pack '/code'",
    'id',
    "git-upload-pack '/a'; id",
    "git-upload-pack '/a' '/b'",
    "git-upload-archive '/a'",
    "git-upload-pack '-x'",
  ])
    assert.match((await to(...here, command)).text, /only reading a repository is allowed/, command);
  assert.match(
    (await to('-p', String(server.port), '127.0.0.1', "git-upload-pack '/code'")).text,
    /has no user/,
  );
  assert.match(
    (await to('-p', '1', 'git@127.0.0.1', "git-upload-pack '/code'")).text,
    /not used for 127\.0\.0\.1:1/,
  );
  assert.match((await to('git@-oProxyCommand=id', "git-upload-pack '/code'")).text, /no valid host/);
  assert.deepEqual(server.commands(), []);
  const refused = await to('-oProxyCommand=touch /nowhere', ...here, "git-upload-pack '/code'");
  assert.match(refused.text, /does not appear to be a git repository/);
  assert.equal(refused.code, 128);
  assert.deepEqual(server.commands(), ["git-upload-pack '/code'"]);
  await gate[Symbol.asyncDispose]();
  assert.equal(existsSync(gate.environment.GIT_SSH ?? ''), false);
});

test('the gate serves only its slot, which has no account and sees no key', needsRoot, async (t) => {
  await using server = await startSshServer();
  const uid = 58_700 + (process.pid % 200);
  await using gate = await gateFor(t, server, uid);
  const args = ['-p', String(server.port), `${server.user}@127.0.0.1`, "git-upload-pack '/code'"];
  assert.match((await callGate(gate.environment, args, uid)).text, /does not appear to be a git repository/);
  assert.match((await callGate(gate.environment, args, uid + 1000)).text, /cannot be reached: .*EACCES/);
});

test('the gate has its own Node if the agent’s is in a closed folder', needsRoot, async (t) => {
  await using server = await startSshServer();
  const closed = mkdtempSync(join(tmpdir(), 'closed-'));
  const own = process.execPath;
  t.after(() => {
    process.execPath = own;
    rmSync(closed, { recursive: true, force: true });
  });
  process.execPath = join(closed, 'node');
  cpSync(own, process.execPath, { mode: constants.COPYFILE_FICLONE });
  const uid = 58_700 + (process.pid % 200);
  await using gate = await gateFor(t, server, uid);
  assert.ok(!gate.readable.includes(process.execPath));
  const args = ['-p', String(server.port), `${server.user}@127.0.0.1`, "git-upload-pack '/code'"];
  assert.match((await callGate(gate.environment, args, uid)).text, /does not appear to be a git repository/);
});

test('concurrent and large calls through the gate are complete', needs, async (t) => {
  const setup = createCheckoutSetup(t);
  await using server = await startSshServer();
  const code = setup.repository('code', {
    large: Array.from({ length: 200_000 }, (_, line) => `line ${line} ${line * 7919}`).join('\n'),
  });
  await using gate = await gateFor(t, server, null);
  const clone = (index: number) =>
    new Promise<string>((resolve, reject) =>
      execFile(
        'git',
        ['clone', '-q', '--', `${server.address}${code.path}`, join(setup.folder, `clone-${index}`)],
        { env: { PATH: process.env.PATH, ...gate.environment } },
        (error, _, complaints) => (error ? reject(new Error(complaints)) : resolve(complaints)),
      ),
    );
  await Promise.all([1, 2, 3, 4].map(clone));
  for (const index of [1, 2, 3, 4])
    assert.deepEqual(readdirSync(join(setup.folder, `clone-${index}`)).sort(), ['.git', 'large']);
});
