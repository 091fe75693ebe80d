import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createCheckoutSetup } from '../../testing/checkout.ts';
import { startLfsServer } from '../../testing/lfs-server.ts';
import { missingSshServer, startSshServer } from '../../testing/ssh-server.ts';

const isThere = (() => {
  try {
    execFileSync('git', ['lfs', 'version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();
const needs = { skip: isThere ? false : 'needs git-lfs' };
const needsSsh = { skip: needs.skip || missingSshServer };

const attributes = '*.bin filter=lfs diff=lfs merge=lfs -text\n';
const credentials = { username: 'user', password: 'lfs-p4ssw0rd' };
const sent = `Basic ${Buffer.from('user:lfs-p4ssw0rd').toString('base64')}`;
const configured = (address: string) => `[lfs]\n\turl = ${address}\n`;

test('LFS files are fetched with the credentials of their own host', needs, async (t) => {
  const setup = createCheckoutSetup(t);
  await using files = await startLfsServer({ credentials });
  const code = setup.repository('code', {
    '.gitattributes': attributes,
    '.lfsconfig': `${configured(files.address)}\tfetchexclude = *\n\tskipdownloaderrors = true\n`,
    'sub/one.bin': files.keep('content of one'),
    'two.bin': files.keep('content of two'),
    'main.tf': '',
  });
  const hostCredentials = [
    { host: 'other.example', username: 'x', password: 'y' },
    { host: files.host, ...credentials },
  ];
  for (const revision of ['main', code.git('rev-parse', 'HEAD')]) {
    const { read, logged } = await setup.checkOut(setup.source(code.path, { revision, hostCredentials }));
    assert.deepEqual([read('sub/one.bin'), read('two.bin')], ['content of one', 'content of two']);
    assert.match(logged[0] ?? '', /^LFS: fetching 2 files from http/);
  }
  assert.ok(
    files.requests.some(
      ({ what, authorization }) => what === 'POST /lfs/objects/batch' && authorization === sent,
    ),
  );
});

test('LFS files of submodules are fetched', needs, async (t) => {
  const setup = createCheckoutSetup(t);
  await using files = await startLfsServer();
  const net = setup.repository('net', {
    '.gitattributes': attributes,
    '.lfsconfig': configured(files.address),
    'a.bin': files.keep('of net'),
  });
  const code = setup.repository('code', { 'main.tf': '' });
  code.addSubmodule('net', '../net', net.git('rev-parse', 'HEAD'));
  assert.equal((await setup.checkOut(setup.source(code.path))).read('net/a.bin'), 'of net');
});

test('the host of the downloads gets no credentials', needs, async (t) => {
  const setup = createCheckoutSetup(t);
  const shared = new Map<string, string>();
  await using store = await startLfsServer({}, shared);
  await using files = await startLfsServer({ credentials, downloadsFrom: `http://${store.host}` }, shared);
  const code = setup.repository('code', {
    '.gitattributes': attributes,
    '.lfsconfig': configured(files.address),
    'a.bin': files.keep('far away'),
  });
  const source = setup.source(code.path, { hostCredentials: [{ host: files.host, ...credentials }] });
  assert.equal((await setup.checkOut(source)).read('a.bin'), 'far away');
  assert.deepEqual(
    store.requests.map(({ authorization }) => authorization),
    [undefined],
  );
});

test('missing or refused credentials and a missing file are reported', needs, async (t) => {
  const setup = createCheckoutSetup(t);
  await using files = await startLfsServer({ credentials });
  const code = setup.repository('code', {
    '.gitattributes': attributes,
    '.lfsconfig': configured(files.address),
    'a.bin': files.keep('x'),
  });
  const withPassword = (password: string) =>
    setup.source(code.path, { hostCredentials: [{ ...credentials, host: files.host, password }] });
  await assert.rejects(
    setup.checkOut(setup.source(code.path)),
    /LFS .*requires credentials, and there are none for that host/,
  );
  await assert.rejects(setup.checkOut(withPassword('wrong')), /^Error: token: .*LFS .*refused/);
  await using empty = await startLfsServer();
  code.commit({ '.lfsconfig': configured(empty.address) });
  await assert.rejects(
    setup.checkOut(setup.source(code.path)),
    /its files in LFS could not be read from http:.*Object does not exist/s,
  );
});

test('a pointer is never used as the file if git-lfs is missing', async (t) => {
  const setup = createCheckoutSetup(t);
  await using files = await startLfsServer();
  const code = setup.repository('code', { '.gitattributes': attributes, 'plain.bin': 'no pointer at all' });
  const { read } = await setup.checkOut(setup.source(code.path), { hasLfs: false });
  assert.equal(read('plain.bin'), 'no pointer at all');
  code.commit({ 'sub/a.bin': files.keep('x') });
  await assert.rejects(
    setup.checkOut(setup.source(code.path), { hasLfs: false }),
    /keeps "sub\/a\.bin" in LFS, and git-lfs is not installed on the agent's machine: install it/,
  );
  await assert.rejects(setup.checkOut(setup.source(code.path)), /not read from a local repository/);
});

test('LFS servers with unsafe addresses and programs from a configuration are refused', needs, async (t) => {
  const setup = createCheckoutSetup(t);
  await using files = await startLfsServer({ transfer: 'planted' });
  const planted = `[lfs]\n\tstandalonetransferagent = planted\n[lfs "customtransfer.planted"]\n\tpath = touch\n\targs = ${setup.folder}/planted\n`;
  const code = setup.repository('code', { '.gitattributes': attributes, 'a.bin': files.keep('x') });
  for (const [address, reason] of [
    ['file:///etc', /lfs\.url is a local folder/],
    ['ext::sh', /lfs\.url names a git transport helper/],
    ['http://other.example/lfs', /lfs\.url uses plain http/],
    ['-oProxyCommand=id', /lfs\.url begins with "-"/],
    ['https://user:secret@host/lfs', /lfs\.url contains a user/],
  ] as const) {
    code.commit({ '.lfsconfig': configured(address) });
    await assert.rejects(
      setup.checkOut(setup.source(code.path, { localPaths: [setup.folder, '/etc'] })),
      (error: Error) => {
        assert.match(error.message, reason);
        assert.doesNotMatch(error.message, /secret/);
        return true;
      },
    );
  }
  code.commit({ '.lfsconfig': `${configured(files.address)}${planted}` });
  assert.equal((await setup.checkOut(setup.source(code.path))).read('a.bin'), 'x');
  assert.equal(existsSync(join(setup.folder, 'planted')), false);
});

test(
  'the LFS server of a repository over ssh is found without showing git-lfs the key',
  needsSsh,
  async (t) => {
    const setup = createCheckoutSetup(t);
    await using files = await startLfsServer({ credentials });
    const answer = JSON.stringify({ href: files.address, header: { Authorization: sent } });
    await using server = await startSshServer({
      commands: { 'git-lfs-authenticate': `printf '%s' '${answer}'` },
    });
    const code = setup.repository('code', { '.gitattributes': attributes, 'a.bin': files.keep('by ssh') });
    const ssh = { keys: [server.key], knownHosts: server.knownHosts };
    const { read } = await setup.checkOut(setup.source(`${server.address}${code.path}`, { ssh }));
    assert.equal(read('a.bin'), 'by ssh');
    assert.ok(
      server.commands().some((command) => /^git-lfs-authenticate '.*code' download$/.test(command)),
      server.commands().join('\n'),
    );
  },
);
