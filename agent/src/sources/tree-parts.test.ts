import assert from 'node:assert/strict';
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { answeredRequest, createCheckoutSetup } from '../../testing/checkout.ts';
import { missingSshServer, startSshServer } from '../../testing/ssh-server.ts';
import { fetchParts } from './tree-parts.ts';

const someCommit = 'a'.repeat(40);

/** @returns the address that a submodule of a repository is fetched from */
async function submoduleAddress(base: string, url: string): Promise<string> {
  const outputs: Record<string, string> = {
    'git config': `submodule.net.path\nnet\0submodule.net.url\n${url}\0`,
    'git ls-files': `160000 ${someCommit} 0\tnet\0`,
  };
  const logged: string[] = [];
  const log = (text: string) => void logged.push(text);
  const request = answeredRequest((label) => outputs[label] ?? '', { log });
  const access = { kind: 'local', gitFolder: '/answered', ownerUid: 0 } as const;
  const outer = { repository: base, revision: undefined, access, folder: '/answered' };
  await fetchParts(request, outer, { hasSubmodules: true, lfsFiles: [] });
  return /^Submodule net: (.*), commit a{40}$/.exec(logged[0] ?? '')?.[1] ?? assert.fail(logged.join('\n'));
}

test('relative addresses are resolved as in git, but never above the host', async () => {
  const cases = [
    ['https://host/team/code.git', '../net.git', 'https://host/team/net.git'],
    ['https://host/team/code.git', './part', 'https://host/team/code.git/part'],
    ['https://host:8443/team/code/', '../../other/net', 'https://host:8443/other/net'],
    ['git@host:team/code.git', '../net.git', 'git@host:team/net.git'],
    ['git@host:/srv/code.git', '../net.git', 'git@host:/srv/net.git'],
    ['ssh://git@host:22/srv/code.git', '../net.git', 'ssh://git@host:22/srv/net.git'],
    ['https://host/code', 'https://other/net', 'https://other/net'],
  ] as const;
  for (const [base, url, expected] of cases) assert.equal(await submoduleAddress(base, url), expected);
  for (const base of ['https://host/code', 'git@host:code', '/code'])
    await assert.rejects(submoduleAddress(base, '../../../x'), /above the root/, base);
});

test('addresses that are made to be slow to read are read at once', async () => {
  for (const base of ['x'.repeat(300_000), '['.repeat(300_000)])
    await assert.rejects(submoduleAddress(base, '../b'), /leads above the root/);
  assert.equal(await submoduleAddress('git@[::1]:a/b', '../c'), 'git@[::1]:a/c');
});

test('nested submodules are fetched, pinned, and only the repository’s own .git is left', async (t) => {
  const setup = createCheckoutSetup(t);
  const inner = setup.repository('inner', { 'inner.tf': '# pinned\n' });
  const pinned = inner.git('rev-parse', 'HEAD');
  inner.commit({ 'inner.tf': '# later\n' });
  const net = setup.repository('net', { 'net.tf': '# net\n' });
  net.addSubmodule(
    'parts/inner one',
    '../inner',
    pinned,
    `\tupdate = !touch ${setup.folder}/planted\n\tbranch = main\n`,
  );
  const code = setup.repository('code', { 'main.tf': '# code\n' });
  code.addSubmodule('modules/net', '../net', net.git('rev-parse', 'HEAD'));
  for (const revision of ['main', code.git('rev-parse', 'HEAD')]) {
    const { tree, read, logged } = await setup.checkOut(setup.source(code.path, { revision }));
    assert.deepEqual(
      [read('main.tf'), read('modules/net/net.tf'), read('modules/net/parts/inner one/inner.tf')],
      ['# code\n', '# net\n', '# pinned\n'],
    );
    assert.deepEqual(
      readdirSync(join(tree, '.git')).filter((name) => name.startsWith('submodule')),
      ['submodule-1', 'submodule-2'],
    );
    assert.ok(lstatSync(join(tree, 'modules/net/.git')).isFile());
    assert.equal(logged.length, 2);
    assert.match(
      logged[1] ?? '',
      new RegExp(`Submodule modules/net/parts/inner one: .*/inner, commit ${pinned}`),
    );
  }
  assert.equal(existsSync(join(setup.folder, 'planted')), false);
});

test('submodules are skipped on request, or if they are only declared', async (t) => {
  const setup = createCheckoutSetup(t);
  const net = setup.repository('net', { 'net.tf': '' });
  const code = setup.repository('code', { 'main.tf': '' });
  code.addSubmodule('net', '../net', net.git('rev-parse', 'HEAD'));
  const skipped = await setup.checkOut(setup.source(code.path), { skipsSubmodules: true });
  assert.deepEqual([readdirSync(join(skipped.tree, 'net')), skipped.logged.length], [[], 1]);
  code.git('rm', '-q', '--cached', 'net');
  code.commit({});
  assert.deepEqual((await setup.checkOut(setup.source(code.path))).logged, []);
});

test('addresses and paths with anything else in them are refused, naming both', async (t) => {
  const setup = createCheckoutSetup(t);
  const cases: [path: string, url: string, reason: RegExp][] = [
    ['net', `ext::sh -c touch%20${setup.folder}/planted`, /repository contains blanks/],
    ['net', 'ext::sh', /transport helper/],
    ['net', '--upload-pack=touch', /begins with "-"/],
    ['net', '-u./payload', /begins with "-"/],
    ['net', 'fd::3', /transport helper/],
    ['net', 'git@-oProxyCommand=id:x', /no valid host/],
    ['net', 'http://other.example/net', /ENVARIUM_GIT_HTTP_HOSTS/],
    ['net', '/etc', /ENVARIUM_GIT_LOCAL_PATHS/],
    ['net', '../../../../../../../etc', /above the root/],
    ['../../..', '../net', /path contains "\.\."/],
    ['-x', '../net', /begins with "-"/],
    ['net', 'https://user:hunter2@other.example/net', /contains a user or a password/],
    ['net', '../none', /does not exist on the machine that reads it/],
    ['net', '', /is empty/],
  ];
  for (const [index, [path, url, reason]] of cases.entries()) {
    const code = setup.repository(`code-${index}`, { 'main.tf': '' });
    code.addSubmodule(path, url, someCommit);
    await assert.rejects(setup.checkOut(setup.source(code.path)), (error: Error) => {
      const shown = url.replace('user:hunter2', '***');
      assert.ok(error.message.startsWith(`submodule ${JSON.stringify(path)} (${shown}): `), error.message);
      assert.match(error.message, reason);
      return true;
    });
  }
  assert.equal(existsSync(join(setup.folder, 'planted')), false);
});

test('repositories that contain themselves, even indirectly, are detected', async (t) => {
  const setup = createCheckoutSetup(t);
  const code = setup.repository('code', { 'main.tf': '' });
  const net = setup.repository('net', { 'net.tf': '' });
  net.addSubmodule('back', '../code', code.git('rev-parse', 'HEAD'));
  code.addSubmodule('net', '../net/', net.git('rev-parse', 'HEAD'));
  await assert.rejects(
    setup.checkOut(setup.source(code.path)),
    /^Error: submodule "net\/back" \(\.\.\/code\): it contains itself \(.*code → .*net → .*code\)/,
  );
});

test('a missing commit of a submodule and a missing repository are reported by name', async (t) => {
  const setup = createCheckoutSetup(t);
  setup.repository('net', { 'net.tf': '' });
  const code = setup.repository('code', { 'main.tf': '' });
  code.addSubmodule('net', '../net', someCommit);
  await assert.rejects(
    setup.checkOut(setup.source(code.path)),
    /^Error: submodule "net" \(\.\.\/net\): revision "a{40}" does not exist in /,
  );
});

test('a submodule of another host is fetched with that host’s credentials or none', {
  skip: missingSshServer,
}, async (t) => {
  const setup = createCheckoutSetup(t);
  const net = setup.repository('net', { 'net.tf': '# net\n' });
  const code = setup.repository('code', { 'main.tf': '' });
  await using one = await startSshServer();
  await using two = await startSshServer();
  code.addSubmodule('net', `${two.address}${net.path}`, net.git('rev-parse', 'HEAD'));
  const ssh = { keys: [one.key, two.key], knownHosts: one.knownHosts + two.knownHosts };
  await assert.rejects(
    setup.checkOut(setup.source(`${one.address}${code.path}`, { ssh })),
    /^Error: submodule "net" .*requires an ssh key, and the environment has none for 127\.0\.0\.1:/,
  );
  assert.deepEqual(two.commands(), []);
  // A repository on the machine itself has no host that the keys could belong to.
  const { read } = await setup.checkOut(setup.source(code.path, { ssh }));
  assert.equal(read('net/net.tf'), '# net\n');
});

test('a repository of the network cannot refer to folders of the machine', {
  skip: missingSshServer,
}, async (t) => {
  const setup = createCheckoutSetup(t);
  const net = setup.repository('net', { 'net.tf': '' });
  const code = setup.repository('code', { 'main.tf': '' });
  await using server = await startSshServer();
  code.addSubmodule('net', net.path, net.git('rev-parse', 'HEAD'));
  const ssh = { keys: [server.key], knownHosts: server.knownHosts };
  await assert.rejects(
    setup.checkOut(setup.source(`${server.address}${code.path}`, { ssh })),
    /folder of the agent's machine/,
  );
});

test('a submodule whose host never answers ends the checkout, by name', async (t) => {
  const setup = createCheckoutSetup(t);
  const closing = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  t.after(() => closing.close());
  await new Promise((resolve) => closing.once('listening', resolve));
  const code = setup.repository('code', { 'main.tf': '' });
  code.addSubmodule('net', `http://127.0.0.1:${(closing.address() as AddressInfo).port}/net`, someCommit);
  await assert.rejects(setup.checkOut(setup.source(code.path)), /^Error: submodule "net" .*does not answer/);
});
