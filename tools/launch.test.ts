import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { installationGap } from './npm/install.mjs';

const platformPackage = `node-${process.platform}-${process.arch}`;
const entry = `
const [what] = process.argv.slice(2);
if (what === 'wait') {
  process.on('SIGTERM', () => process.exit(7));
  setInterval(() => {}, 1000);
}
const facts: object = { pid: process.pid, argv: process.argv.slice(1), execPath: process.execPath, cache: process.env.NODE_COMPILE_CACHE };
console.log(JSON.stringify(facts));
if (what === 'exit') process.exit(3);
if (what === 'kill') process.kill(process.pid, 'SIGKILL');
`;

interface Facts {
  readonly pid: number;
  readonly argv: string[];
  readonly cache?: string;
}

const programFile = (name: string) => `programs/${name}.mjs`;

/** A checkout of nothing but the launcher and one entry, in a path with a blank. */
function makeCheckout(
  t: TestContext,
  manifest: object = { optionalDependencies: { [platformPackage]: '24.21.0' } },
): string {
  const above = realpathSync(mkdtempSync(join(tmpdir(), 'envarium launch ')));
  t.after(() => rmSync(above, { recursive: true, force: true }));
  const folder = join(above, 'check out');
  for (const part of ['npm', 'programs']) mkdirSync(join(folder, 'tools', part), { recursive: true });
  for (const file of [
    'launch.mjs',
    'npm/install.mjs',
    ...['kept-build', 'program-of', 'web-of'].map(programFile),
  ])
    cpSync(join(import.meta.dirname, file), join(folder, 'tools', file));
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'sample', version: '1.0.0', type: 'module', ...manifest }),
  );
  writeFileSync(join(folder, 'tools', 'entry.ts'), entry);
  return folder;
}

/** Makes the checkout look installed: with this very Node as the pinned one, or with another path to it. */
function install(folder: string, { isThisNode }: { isThisNode: boolean }): void {
  const packages = {
    [`node_modules/${platformPackage}`]: { version: '24.21.0', integrity: 'sha512-x', optional: true },
  };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...packages } }));
  const bin = join(folder, 'node_modules', platformPackage, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(folder, 'node_modules', '.package-lock.json'), JSON.stringify({ packages }));
  if (isThisNode) symlinkSync(process.execPath, join(bin, 'node'));
  else writeFileSync(join(bin, 'node'), otherNode, { mode: 0o755 });
}

const otherNode = `#!/bin/sh\nexec '${process.execPath}' "$@"\n`;

/** The environment of a shell without npm's variables and without a running test's. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|ENVARIUM_)/.test(name)),
);

function launch(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = environment) {
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    ['tools/launch.mjs', 'tools/entry.ts', ...args],
    {
      cwd: folder,
      env,
      encoding: 'utf8',
    },
  );
  return { status, signal, stdout, stderr, facts: () => JSON.parse(stdout) as Facts };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString('utf8')));
    child.once('error', reject);
  });
}

const ended = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once('exit', resolve));

test('under the pinned Node the entry runs in the launcher itself', async (t) => {
  const folder = makeCheckout(t);
  install(folder, { isThisNode: true });
  const child = spawn(process.execPath, [join(folder, 'tools', 'launch.mjs'), 'tools/entry.ts', 'exit'], {
    cwd: tmpdir(),
    env: environment,
  });
  const facts = JSON.parse(await firstLine(child)) as Facts;
  assert.equal(await ended(child), 3);
  assert.equal(facts.pid, child.pid);
  assert.equal(facts.cache, join(folder, '.cache', 'compile'));
});

test('under another Node the entry replaces the launcher, with the same arguments', async (t) => {
  const folder = makeCheckout(t);
  install(folder, { isThisNode: false });
  const plain = launch(folder, ['a b', '', '--c=$d']);
  assert.deepEqual(plain.facts().argv, [join(folder, 'tools', 'entry.ts'), 'a b', '', '--c=$d']);
  assert.deepEqual([plain.status, plain.stderr], [0, '']);
  assert.equal(launch(folder, ['kill']).signal, 'SIGKILL');
  const child = spawn(process.execPath, ['tools/launch.mjs', 'tools/entry.ts', 'wait'], {
    cwd: folder,
    env: environment,
  });
  const facts = JSON.parse(await firstLine(child)) as Facts;
  assert.equal(facts.pid, child.pid);
  child.kill('SIGTERM');
  assert.equal(await ended(child), 7);
});

test('service and agent replace the launcher under the pinned Node too; without a bundler they run from sources', (t) => {
  const folder = makeCheckout(t);
  install(folder, { isThisNode: true });
  mkdirSync(join(folder, 'agent', 'src'), { recursive: true });
  writeFileSync(
    join(folder, 'agent', 'src', 'main.ts'),
    'console.log(process.argv[1], process.execArgv.length);',
  );
  const args = [join(folder, 'tools', 'launch.mjs'), 'agent/src/main.ts'];
  const { stdout, stderr } = spawnSync(process.execPath, args, { env: environment, encoding: 'utf8' });
  assert.equal(stdout, `${join(folder, 'agent', 'src', 'main.ts')} 1\n`);
  assert.match(stderr, /^The sources run without a bundle, .*build-programs\.mjs/);
});

test('the service learns where its web interface is, or why there is none, unless a folder is set', (t) => {
  const folder = makeCheckout(t);
  install(folder, { isThisNode: true });
  mkdirSync(join(folder, 'server', 'src'), { recursive: true });
  const print =
    'console.log(JSON.stringify([process.env.ENVARIUM_WEB_DIR, process.env.ENVARIUM_WEB_PROBLEM]));';
  writeFileSync(join(folder, 'server', 'src', 'main.ts'), print);
  const started = (env: NodeJS.ProcessEnv = environment) => {
    const args = [join(folder, 'tools', 'launch.mjs'), 'server/src/main.ts'];
    const { stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    return JSON.parse(stdout) as [string | null, string | null];
  };
  const [none, problem] = started();
  assert.deepEqual([none, problem?.includes('could not be built')], [null, true]);
  const builder =
    "import { writeFileSync } from 'node:fs'; writeFileSync(process.argv[3] + '/index.html', '');";
  writeFileSync(join(folder, 'tools', 'programs', 'build-web.mjs'), builder);
  const [built, without] = started();
  assert.equal(without, null);
  assert.equal(dirname(built ?? ''), join(folder, '.cache', 'web'));
  assert.deepEqual(started({ ...environment, ENVARIUM_WEB_DIR: '/elsewhere' }), ['/elsewhere', null]);
  writeFileSync(join(folder, '.env'), 'ENVARIUM_WEB_DIR=/from-file\n');
  assert.deepEqual(started(), ['/from-file', null]);
});

/** For a Node that cannot replace itself, as older ones. */
const olderNode = { ...environment, NODE_OPTIONS: '--import=data:text/javascript,process.execve=undefined' };

test('under an older Node the entry becomes a child with the same arguments and status', (t) => {
  const folder = makeCheckout(t);
  install(folder, { isThisNode: false });
  const plain = launch(folder, ['a b', '', '--c=$d'], olderNode);
  assert.deepEqual(plain.facts().argv, [join(folder, 'tools', 'entry.ts'), 'a b', '', '--c=$d']);
  assert.deepEqual([plain.status, plain.stderr], [0, '']);
  assert.equal(launch(folder, ['exit'], olderNode).status, 3);
  assert.equal(launch(folder, ['kill'], olderNode).status, 137);
});

test('service, agent and command line read the .env of the checkout, below variables that are set', (t) => {
  for (const isThisNode of [true, false]) {
    const folder = makeCheckout(t);
    install(folder, { isThisNode });
    writeFileSync(join(folder, '.env'), 'FIRST=file\nSECOND="file file"\n');
    const print = 'console.log(JSON.stringify([process.env.FIRST, process.env.SECOND]));';
    for (const room of ['cli', 'tools']) {
      mkdirSync(join(folder, room), { recursive: true });
      writeFileSync(join(folder, room, 'print.ts'), print);
    }
    const printed = (entry: string) => {
      const env = { ...environment, FIRST: 'variable' };
      const args = [join(folder, 'tools', 'launch.mjs'), entry];
      const { stdout } = spawnSync(process.execPath, args, { cwd: tmpdir(), env, encoding: 'utf8' });
      return JSON.parse(stdout) as unknown;
    };
    assert.deepEqual(printed('cli/print.ts'), ['variable', 'file file']);
    assert.deepEqual(printed('tools/print.ts'), ['variable', null]);
  }
});

test('envarium of a checkout runs by a link from any folder, which stays the current one', (t) => {
  const folder = makeCheckout(t);
  install(folder, { isThisNode: true });
  cpSync(join(import.meta.dirname, 'envarium.mjs'), join(folder, 'tools', 'envarium.mjs'));
  mkdirSync(join(folder, 'cli', 'src'), { recursive: true });
  const print = 'console.log(JSON.stringify([process.cwd(), ...process.argv.slice(2)]));';
  writeFileSync(join(folder, 'cli', 'src', 'main.ts'), print);
  const link = join(folder, 'envarium');
  symlinkSync(join('tools', 'envarium.mjs'), link);
  const elsewhere = realpathSync(tmpdir());
  const { stdout } = spawnSync(process.execPath, [link, 'plan', '.'], {
    cwd: elsewhere,
    env: environment,
    encoding: 'utf8',
  });
  assert.deepEqual(JSON.parse(stdout), [elsewhere, 'plan', '.']);
});

test('a signal reaches the child, and the launcher waits for it', async (t) => {
  const folder = makeCheckout(t);
  install(folder, { isThisNode: false });
  const child = spawn(process.execPath, ['tools/launch.mjs', 'tools/entry.ts', 'wait'], {
    cwd: folder,
    env: olderNode,
  });
  const facts = JSON.parse(await firstLine(child)) as Facts;
  assert.notEqual(facts.pid, child.pid);
  child.kill('SIGTERM');
  assert.equal(await ended(child), 7);
  assert.equal(existsSync(`/proc/${facts.pid}`), false);
});

test('an installed checkout that cannot be written works', (t) => {
  const folder = makeCheckout(t);
  install(folder, { isThisNode: true });
  chmodSync(dirname(folder), 0o755);
  const unprivileged = 65534;
  const isRoot = process.getuid?.() === 0;
  if (!isRoot) chmodSync(folder, 0o555);
  const user = isRoot ? { uid: unprivileged, gid: unprivileged } : {};
  const options = {
    cwd: folder,
    env: { ...environment, HOME: '/nonexistent' },
    encoding: 'utf8' as const,
    ...user,
  };
  const result = spawnSync(process.execPath, ['tools/launch.mjs', 'tools/entry.ts', 'exit'], options);
  if (!isRoot) chmodSync(folder, 0o755);
  if (result.error) return t.skip(`another user cannot start ${process.execPath}`);
  assert.deepEqual([result.status, result.stderr], [3, '']);
  assert.equal(existsSync(join(folder, '.cache')), false);
});

test('the first launch installs with npm, and concurrent launches wait for that installation', async (t) => {
  const folder = makeCheckout(t, {});
  const pack = join(dirname(folder), 'package');
  mkdirSync(join(pack, 'bin'), { recursive: true });
  writeFileSync(
    join(pack, 'package.json'),
    JSON.stringify({ name: platformPackage, version: '24.21.0', bin: { node: 'bin/node' } }),
  );
  writeFileSync(join(pack, 'bin', 'node'), otherNode, { mode: 0o755 });
  const npm = (args: string[]) => spawnSync('npm', args, { cwd: folder, env: environment, encoding: 'utf8' });
  assert.equal(npm(['pack', pack, '--silent']).status, 0);
  assert.equal(
    npm([
      'install',
      '--save-optional',
      '--package-lock-only',
      '--offline',
      `./${platformPackage}-24.21.0.tgz`,
    ]).status,
    0,
  );
  // The holder of this lock is gone.
  mkdirSync(join(folder, '.cache'));
  writeFileSync(join(folder, '.cache', 'install.lock'), '999999999 1');

  const launches = [1, 2, 3].map(async () => {
    const child = spawn(process.execPath, ['tools/launch.mjs', 'tools/entry.ts', 'exit'], {
      cwd: folder,
      env: environment,
    });
    let output = '';
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    const status = await new Promise((resolve) => child.once('close', resolve));
    return { status, output };
  });
  const results = await Promise.all(launches);
  assert.deepEqual(
    results.map(({ status }) => status),
    [3, 3, 3],
    JSON.stringify(results),
  );
  assert.equal(results.filter(({ output }) => output.includes('Installing packages: done')).length, 1);
  assert.equal(existsSync(join(folder, '.cache', 'install.lock')), false);
  assert.equal(launch(folder, ['exit']).stderr, '');
});

test('says what is missing: npm, the platform, the lockfile, the entry', (t) => {
  const folder = makeCheckout(t);
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ packages: { 'node_modules/one': { version: '1.0.0' } } }),
  );
  assert.match(launch(folder, [], { PATH: tmpdir() }).stderr, /npm was not found/);
  rmSync(join(folder, 'package-lock.json'));
  assert.match(launch(folder, []).stderr, /package-lock\.json is missing/);

  const elsewhere = makeCheckout(t, { optionalDependencies: { 'node-plan9-x64': '24.21.0' } });
  const refused = launch(elsewhere, []);
  assert.deepEqual([refused.status, refused.stdout], [1, '']);
  assert.match(refused.stderr, /no Node package for .*Supported platforms: plan9-x64/);

  install(folder, { isThisNode: true });
  rmSync(join(folder, 'tools', 'entry.ts'));
  assert.match(launch(folder, []).stderr, /There is no tools\/entry\.ts/);
});

test('says why npm could not install', (t) => {
  const folder = makeCheckout(t, { dependencies: { one: '1.0.0' } });
  const lock = {
    lockfileVersion: 3,
    packages: { '': { dependencies: { two: '1.0.0' } }, 'node_modules/two': { version: '1.0.0' } },
  };
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({
      ...JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')),
      optionalDependencies: { [platformPackage]: '24.21.0' },
    }),
  );
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const { status, stderr } = launch(folder, [], {
    ...environment,
    npm_config_registry: 'http://127.0.0.1:9/',
    npm_config_fetch_retries: '0',
  });
  assert.equal(status, 1);
  assert.match(stderr, /The package registry cannot be reached|do not belong together/);
});

test('an installation is complete when every package that this platform needs is there', (t) => {
  const folder = makeCheckout(t);
  const one = { version: '1.0.0', integrity: 'sha512-x' };
  const set = (wanted: object, present: object | null) => {
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...wanted } }));
    mkdirSync(join(folder, 'node_modules'), { recursive: true });
    rmSync(join(folder, 'node_modules', '.package-lock.json'), { force: true });
    if (present)
      writeFileSync(
        join(folder, 'node_modules', '.package-lock.json'),
        JSON.stringify({ packages: present }),
      );
    return installationGap(folder, { withDev: false });
  };
  assert.equal(set({}, null), 'nothing is installed yet');
  assert.equal(set({ 'node_modules/one': one }, { 'node_modules/one': one }), null);
  assert.equal(set({ 'node_modules/one': one }, {}), 'node_modules/one is missing');
  assert.equal(set({ 'node_modules/one': { ...one, optional: true } }, {}), null);
  assert.equal(set({ 'node_modules/one': { ...one, dev: true } }, {}), null);
  assert.equal(installationGap(folder, { withDev: true }), 'node_modules/one is missing');
  assert.equal(
    set({ 'node_modules/one': one }, { 'node_modules/one': { ...one, version: '2.0.0' } }),
    'node_modules/one is not version 1.0.0',
  );
  assert.equal(set({}, { 'node_modules/one': one }), 'node_modules/one is no longer wanted');
});
