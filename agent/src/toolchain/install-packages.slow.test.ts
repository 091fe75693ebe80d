import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { programFacts } from '#protocol/tools/index.ts';
import { until } from '../../../tools/suite/until.ts';
import { jobOf } from '../../testing/driver-job.ts';
import { notIsolated } from '../../testing/runner-setup.ts';
import {
  ansibleWheels,
  type PythonIndex,
  startPythonIndex,
  type Wheel,
  wheelFile,
  wheelOf,
} from '../../testing/toolchain/python-index.ts';
import { StopWatch } from '../processes/stop-watch.ts';
import { asideOf } from '../runner/tool/run-aside.ts';
import { spoolPaths } from '../spool/layout.ts';
import { parseRequestedVersion } from './choose-tool.ts';
import { type FoundTool, findTool } from './find-tool.ts';
import { findPython, platformFor } from './python.ts';
import { limitCache } from './tool-cache.ts';
import type { MirrorOrder } from './tool-mirror.ts';

const python = findPython();
const withPython = { skip: python === null ? 'needs python3 with its module venv' : false, timeout: 180_000 };
const name = 'ansible-playbook';
const platform = platformFor(programFacts(name)!.release);

interface Setup {
  readonly folder: string;
  readonly cacheFolder: string;
  readonly logged: string[];
  /** @param mirror undefined: the publisher */
  find(
    wanted: string | undefined,
    mirror: MirrorOrder | null | undefined,
    options?: Options,
  ): Promise<FoundTool>;
  kept(): string[];
  environments(): string[];
  abort(): void;
}

interface Options {
  readonly onPath?: { version: string; path: string };
}

function createSetup(t: TestContext): Setup {
  const folder = mkdtempSync(join(tmpdir(), 'packages-'));
  chmodSync(folder, 0o755);
  const spool = spoolPaths(join(folder, 'spool'));
  mkdirSync(spool.steps, { recursive: true, mode: 0o700 });
  writeFileSync(spool.contact, String(process.uptime() + 1e9));
  const cacheFolder = join(folder, 'cache');
  const job = jobOf({});
  const stop = new StopWatch(spool, job.limits);
  t.after(() => {
    stop[Symbol.dispose]();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const order = { isolation: notIsolated } as Parameters<typeof asideOf>[0]['order'];
  const runAside = asideOf({ spool, order, job, stop });
  const ending = new AbortController();
  stop.onStop(() => ending.abort(new Error('the deployment was aborted')));
  const logged: string[] = [];
  const list = (path: string) => (existsSync(path) ? readdirSync(path) : []);
  return {
    folder,
    cacheFolder,
    logged,
    find: (wanted, mirror, { onPath } = {}) =>
      findTool(
        {
          order: { cacheFolder, cacheBytes: 1e9, mirrors: mirror === undefined ? {} : { [name]: mirror } },
          signal: ending.signal,
          log: (text) => void logged.push(text),
          runAside,
        },
        {
          name,
          wanted: parseRequestedVersion(wanted, 'ansibleVersion'),
          onPath: onPath ?? null,
          required: async () => [],
        },
      ),
    kept: () => list(join(cacheFolder, 'releases')),
    environments: () => list(join(cacheFolder, 'environments')),
    abort: () => {
      writeFileSync(spool.control, JSON.stringify({ abort: 'now' }));
      stop.check();
    },
  };
}

async function indexOf(
  t: TestContext,
  wheels: readonly Wheel[],
  authorization?: string,
): Promise<PythonIndex> {
  const index = await startPythonIndex(wheels, authorization === undefined ? {} : { authorization });
  t.after(() => index[Symbol.asyncDispose]());
  return index;
}

const versionOf = (program: string) => execFileSync(program, ['--version'], { encoding: 'utf8', env: {} });

// Each waits for pip most of its time.
describe('Ansible from an index of packages', { concurrency: 3 }, () => {
  test(
    'packages are installed into an environment of their own, which runs only read',
    withPython,
    async (t) => {
      const setup = createSetup(t);
      const index = await indexOf(t, [
        ...ansibleWheels('2.16.3', '9.2.0'),
        ...ansibleWheels('2.17.1', '10.1.0'),
      ]);
      const umask = process.umask(0o077);
      t.after(() => void process.umask(umask));
      const tool = await setup.find('9.2.0', { url: index.url });
      assert.deepEqual([tool.version, tool.from], ['9.2.0', 'index']);
      assert.match(versionOf(tool.program), /^ansible-playbook \[core 2\.16\.3\]$/m);
      assert.match(versionOf(join(dirname(tool.program), 'ansible-galaxy')), /core 2\.16\.3/);
      assert.deepEqual(setup.kept(), [`${name}_9.2.0_${platform}`]);
      assert.equal(setup.logged[0], `Installing ansible==9.2.0 from ${index.url}`);
      assert.match(
        setup.logged[1] ?? '',
        /^pip compared each wheel with the hash of its index; kept in the tool/,
      );
      const environment = dirname(dirname(realpathSync(tool.program)));
      for (const file of readdirSync(environment, { recursive: true, encoding: 'utf8' })) {
        const { mode } = statSync(join(environment, file));
        assert.equal(
          mode & 0o005,
          statSync(join(environment, file)).isDirectory() ? 0o005 : mode & 0o005,
          file,
        );
        assert.equal(mode & 0o004, 0o004, file);
        assert.equal(mode & 0o022, 0, file);
      }
      const requests = index.requests.length;
      const again = await setup.find('9.2.0', { url: index.url });
      assert.deepEqual([again.from, again.program], ['cache', tool.program]);
      assert.equal(index.requests.length, requests, 'a release in the cache needs no request');
      const core = await setup.find('2.17.1', { url: index.url });
      assert.match(versionOf(core.program), /core 2\.17\.1/);
      assert.equal(setup.logged.at(-2), `Installing ansible-core==2.17.1 from ${index.url}`);
    },
  );

  test(
    'latest is the newest release with a wheel for this Python; the PATH counts with its core',
    withPython,
    async (t) => {
      const setup = createSetup(t);
      const index = await indexOf(t, [
        ...ansibleWheels('2.16.3', '9.2.0', '9.1.0'),
        { project: 'ansible', version: '90.0.0', python: '>=3.99' },
        { project: 'ansible', version: '91.0.0', isYanked: true },
        { project: 'ansible', version: '92.0.0', lie: 'only source' },
      ]);
      const onPath = { version: '2.14.18', path: '/usr/bin/ansible-playbook' };
      assert.equal((await setup.find('latest', { url: index.url }, { onPath })).version, '9.2.0');
      assert.equal((await setup.find(undefined, { url: index.url }, { onPath })).from, 'PATH');
      assert.equal((await setup.find('2.14.18', { url: index.url }, { onPath })).from, 'PATH');
      const offline = createSetup(t);
      assert.equal((await offline.find('latest', null, { onPath })).from, 'PATH');
      await assert.rejects(
        offline.find('9.2.0', null, { onPath }),
        /ansible-playbook 9\.2\.0 is requested by ansibleVersion, but this agent has 2\.14\.18 \(\/usr.*nothing is fetched here/,
      );
    },
  );

  test('a folder of wheels is enough without network', withPython, async (t) => {
    const setup = createSetup(t);
    const wheels = join(setup.folder, 'wheels');
    mkdirSync(wheels);
    for (const wheel of ansibleWheels('2.16.3', '9.2.0'))
      writeFileSync(join(wheels, wheelFile(wheel)), wheelOf(wheel));
    const tool = await setup.find('latest', { url: wheels });
    assert.equal(tool.version, '9.2.0');
    assert.match(versionOf(tool.program), /core 2\.16\.3/);
    await assert.rejects(
      setup.find('8.0.0', { url: wheels }),
      new RegExp(
        `8\\.0\\.0 .*could not be obtained: pip found no ansible==8\\.0\\.0 that this machine's Python can run in ${wheels}: choose another version`,
      ),
    );
    await assert.rejects(
      createSetup(t).find('latest', { url: join(wheels, 'gone') }),
      /its tool cache has none, and no index is reachable: ENOENT/,
    );
  });

  test('credentials of an index reach pip and are never shown', withPython, async (t) => {
    const authorization = `Basic ${Buffer.from('reader:open@sesame/:%').toString('base64')}`;
    const setup = createSetup(t);
    const index = await indexOf(t, ansibleWheels('2.16.3', '9.2.0'), authorization);
    assert.equal((await setup.find('latest', { url: index.url, authorization })).version, '9.2.0');
    const refused = await setup.find('9.1.0', { url: index.url, authorization }).then(
      () => assert.fail('nothing was refused'),
      (error: Error) => error.message,
    );
    const record = readFileSync(
      join(setup.cacheFolder, 'releases', setup.kept()[0] ?? '', 'release.json'),
      'utf8',
    );
    for (const text of [...setup.logged, refused, record]) assert.doesNotMatch(text, /sesame|cmVhZGVy/);
    await assert.rejects(setup.find('9.1.0', { url: index.url }), /could not be obtained: .*9\.1\.0/);
  });

  const refusals: readonly (readonly [NonNullable<Wheel['lie']>, RegExp])[] = [
    [
      'other bytes',
      /pip could not install ansible-core==2\.16\.3 .*THESE PACKAGES DO NOT MATCH THE HASHES|.*Expected sha256/,
    ],
    ['truncated', /pip could not install ansible-core==2\.16\.3/],
    ['no file', /pip could not install ansible-core==2\.16\.3 from http:.* 404/],
    [
      'only source',
      /pip found no ansible-core==2\.16\.3 that this machine's Python can run in \S+: choose another version/,
    ],
  ];
  for (const [lie, message] of refusals)
    test(`refused, and nothing kept: ${lie}`, withPython, async (t) => {
      const setup = createSetup(t);
      const wheels = ansibleWheels('2.16.3').map((wheel) => ({ ...wheel, lie }));
      const index = await indexOf(t, wheels);
      await assert.rejects(setup.find('2.16.3', { url: index.url }), message);
      assert.deepEqual([setup.kept(), setup.environments()], [[], []]);
    });

  test('a package without the programs is refused', withPython, async (t) => {
    const setup = createSetup(t);
    const index = await indexOf(t, [{ project: 'ansible', version: '9.2.0' }]);
    await assert.rejects(
      setup.find('9.2.0', { url: index.url }),
      /ansible==9\.2\.0 does not contain ansible-playbook/,
    );
    assert.deepEqual([setup.kept(), setup.environments()], [[], []]);
  });

  test('nothing of a package runs while it is installed', withPython, async (t) => {
    const setup = createSetup(t);
    const trace = join(setup.folder, 'trace');
    const [core = assert.fail()] = ansibleWheels('2.16.3');
    const index = await indexOf(t, [
      { ...core, startsWith: `open(${JSON.stringify(trace)}, "w").close()\n` },
    ]);
    const tool = await setup.find('2.16.3', { url: index.url });
    await setup.find('2.16.3', { url: index.url });
    assert.equal(existsSync(trace), false);
    versionOf(tool.program);
    assert.ok(existsSync(trace), 'the run that uses it does');
  });

  test('concurrent runs install once; an abort ends it and leaves nothing', withPython, async (t) => {
    const setup = createSetup(t);
    const index = await indexOf(t, ansibleWheels('2.16.3'));
    const found = await Promise.all([1, 2, 3].map(() => setup.find('2.16.3', { url: index.url })));
    assert.equal(new Set(found.map(({ program }) => program)).size, 1);
    assert.equal(index.requests.filter((path) => path.endsWith('.whl')).length, 1);
    const slow = await indexOf(
      t,
      ansibleWheels('2.17.1').map((wheel) => ({ ...wheel, lie: 'slow' as const })),
    );
    const finding = setup.find('2.17.1', { url: slow.url });
    finding.catch(() => undefined);
    await until('the download', () => slow.requests.some((path) => path.endsWith('.whl')), 60);
    setup.abort();
    await assert.rejects(finding, /aborted/);
    assert.deepEqual(setup.kept(), [`${name}_2.16.3_${platform}`]);
    assert.equal(setup.environments().length, 1);
  });

  test("the publisher's index and packages are what is expected of them", withPython, async (t) => {
    const setup = createSetup(t);
    const { index, readIndex } = programFacts(name)!.release!;
    const answer = await fetch(`${index.host}${index.path}`, { signal: AbortSignal.timeout(10_000) }).catch(
      () => null,
    );
    if (answer?.status !== 200) return t.skip(`needs ${index.host}`);
    const versions = readIndex(await answer.text(), platform);
    assert.ok(versions.includes('9.2.0') && !versions.includes('2.9.27'), versions.join());
    const tool = await setup.find('2.16.3', undefined);
    assert.match(versionOf(tool.program), /core 2\.16\.3/);
  });

  test(
    'an environment goes with its release, and one that no one finished after some time',
    withPython,
    async (t) => {
      const setup = createSetup(t);
      const index = await indexOf(t, [...ansibleWheels('2.16.3'), ...ansibleWheels('2.17.1')]);
      const { program } = await setup.find('2.16.3', { url: index.url });
      const left = join(setup.cacheFolder, 'environments', 'left');
      mkdirSync(left);
      const old = new Date(Date.now() - 86_400_000);
      utimesSync(left, old, old);
      rmSync(join(dirname(program), 'uses'), { recursive: true });
      await setup.find('2.17.1', { url: index.url });
      assert.equal(existsSync(left), false);
      assert.deepEqual(await limitCache(setup.cacheFolder, 1), [`${name}_2.16.3_${platform}`]);
      assert.equal(setup.environments().length, 1, 'the other is in use');
      const [environment = ''] = setup.environments();
      rmSync(join(setup.cacheFolder, 'environments', environment), { recursive: true });
      assert.equal((await setup.find('2.17.1', { url: index.url })).from, 'cache');
      assert.equal(setup.environments().length, 1, 'what was removed is installed again');
    },
  );
});
