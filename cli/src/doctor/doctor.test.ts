import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Agent, AgentIsolation } from '#contract/agents/shapes.ts';
import { createClient } from '#contract/client/client.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import { pulumiFolder, withPulumi } from '../../../agent/testing/pulumi/pulumi-folder.ts';
import { isolationOf } from './agent-isolation.ts';
import type { Finding } from './finding.ts';
import { adviceForReadiness, checkInstallation, checkProcesses, findStuck, skewOf } from './installation.ts';
import { checkCgroup, checkOwnEntry, checkUids } from './isolation.ts';
import { checkNetwork, withoutCredentials } from './network.ts';
import { checkPlaces } from './places.ts';
import { checkPrograms } from './programs.ts';

const passwd =
  'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\nbuild:x:58001:58001::/:/bin/sh\n';
const now = Date.parse('2026-11-21T12:00:00Z');
const about = (findings: readonly Finding[], check: string) =>
  findings.filter((finding) => finding.check === check);

describe('the doctor', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'doctor-'));
    await chmod(folder, 0o755);
  });
  after(() => rm(folder, { recursive: true }));

  test('every warning and problem says what to do, and nothing else does', async () => {
    const all = [
      ...(await checkPrograms()),
      ...(await checkPlaces({ ENVARIUM_SPOOL_DIR: folder })),
      checkUids(passwd, {}),
    ];
    assert.ok(about(all, 'node')[0] && about(all, 'git')[0] && about(all, 'spool folder')[0]);
    for (const { standing, advice, check } of all)
      assert.equal(advice !== undefined, standing !== 'ok', check);
  });

  test('the host of a language of Pulumi, which reports no version, works', withPulumi, async (t) => {
    const { PATH } = process.env;
    process.env.PATH = [pulumiFolder(), PATH].join(delimiter);
    t.after(() => void (process.env.PATH = PATH));
    const all = await checkPrograms();
    const found = ['pulumi', 'pulumi-language-yaml'].flatMap((name) => about(all, name));
    assert.deepEqual(
      found.map(({ standing }) => standing),
      ['ok', 'ok'],
      JSON.stringify(found),
    );
  });

  test('a git that is too old for the service, or for agents, is reported', async (t) => {
    const { PATH } = process.env;
    process.env.PATH = [folder, PATH].join(delimiter);
    t.after(() => void (process.env.PATH = PATH));
    for (const [version, standing, advice] of [
      ['2.29.2', 'problem', /install git 2\.30 or later/],
      ['2.34.1', 'warning', /^The service does not read repositories on the web with it: install git 2\.37/],
      ['2.37.0', 'ok', /^$/],
    ] as const) {
      await writeFile(join(folder, 'git'), `#!/bin/sh\necho "git version ${version}"\n`, { mode: 0o755 });
      const [found] = about(await checkPrograms(), 'git');
      assert.equal(found?.standing, standing, version);
      assert.match(found.advice ?? '', advice);
    }
  });

  test('accounts in the range of user ids are reported, and a range that is too small', () => {
    assert.match(checkUids(passwd, {}).text, /build \(58001\)/);
    assert.equal(checkUids(passwd, { ENVARIUM_SLOT_UID_BASE: '70000' }).standing, 'ok');
    const small = checkUids(passwd, {
      ENVARIUM_SLOT_UID_BASE: '58001',
      ENVARIUM_SLOT_UID_COUNT: '2',
      ENVARIUM_AGENT_CONCURRENCY: '2',
    });
    assert.equal(small.standing, 'problem');
    assert.match(small.text, /only 1 of .* are free, but 2 concurrent runs/);
  });

  test('a user id without an account, which the embedded PostgreSQL refuses, is reported', () => {
    assert.equal(checkOwnEntry(passwd, 58_001).standing, 'ok');
    assert.equal(checkOwnEntry(passwd, 1_234_567).standing, 'warning');
    assert.match(checkOwnEntry(passwd, 1_234_567).advice ?? '', /DATABASE_URL/);
    assert.equal(checkOwnEntry('root:x:0:0::/:/bin/sh\n', 0).standing, 'warning');
  });

  test('an invalid folder, a closed parent, a long socket path and a readable sealing key are reported', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    const [none] = about(await checkPlaces({ ENVARIUM_SPOOL_DIR: file }), 'spool folder');
    assert.deepEqual([none?.standing, /is not a folder/.test(none?.text ?? '')], ['problem', true]);
    const long = join(folder, 'x'.repeat(100));
    assert.equal(about(await checkPlaces({ ENVARIUM_DATA_DIR: long }), 'socket')[0]?.standing, 'warning');
    assert.deepEqual(
      about(await checkPlaces({ ENVARIUM_DATA_DIR: long, DATABASE_URL: 'postgres://elsewhere' }), 'socket'),
      [],
    );
    await writeFile(join(folder, 'sealing.key'), 'the very key', { mode: 0o644 });
    const [open] = about(await checkPlaces({ ENVARIUM_DATA_DIR: folder }), 'sealing key');
    assert.equal(open?.standing, 'problem');
    assert.doesNotMatch(JSON.stringify(open), /the very key/);
    const gone = about(
      await checkPlaces({ ENVARIUM_SEALING_KEY_FILE: join(folder, 'no-key') }),
      'sealing key',
    );
    assert.equal(gone[0]?.standing, 'problem');
    const closed = join(folder, 'closed');
    await mkdir(closed, { mode: 0o700 });
    const way = about(
      await checkPlaces({ ENVARIUM_SPOOL_DIR: folder, ENVARIUM_WORK_DIR: join(closed, 'work') }),
      'work folder',
    );
    if (process.getuid?.() === 0)
      assert.ok(way.some(({ text }) => /closed cannot be entered by the users of runs/.test(text)));
  });

  test('proxies are shown without credentials, and invalid certificates are reported', async () => {
    assert.equal(withoutCredentials('http://user:secret@proxy:3128/path?token=secret'), 'http://proxy:3128');
    const file = join(folder, 'ca.pem');
    await writeFile(file, 'no certificate');
    const environment = {
      HTTPS_PROXY: 'http://user:secret@127.0.0.1:9',
      ENVARIUM_CA_FILE: file,
      ENVARIUM_TOOL_MIRROR_TERRAFORM: 'http://user:secret@127.0.0.1:9/mirror',
      ENVARIUM_TOOL_MIRROR_OPENTOFU: folder,
      ENVARIUM_TOOL_MIRROR_ANSIBLE: folder,
      ENVARIUM_TOOL_MIRROR_HELM: 'none',
      ENVARIUM_TOOL_MIRROR_KUBECTL: 'https://127.0.0.1:9/mirror',
      ENVARIUM_TOOL_MIRROR_KUSTOMIZE: 'https://127.0.0.1:9/mirror',
      ENVARIUM_PROVIDER_MIRROR: folder,
    };
    const all = await checkNetwork(environment);
    assert.doesNotMatch(JSON.stringify(all), /secret/);
    assert.equal(about(all, 'proxy')[0]?.standing, 'warning', 'there is no NO_PROXY');
    assert.match(about(all, 'certificates of ENVARIUM_CA_FILE')[0]?.text ?? '', /contains no certificate/);
    assert.match(about(all, 'terraform mirror')[0]?.text ?? '', /127\.0\.0\.1:9 cannot be reached/);
    assert.equal(about(all, 'opentofu mirror')[0]?.standing, 'ok');
    assert.match(about(all, 'ansible mirror')[0]?.text ?? '', /a folder on this machine/);
    assert.match(about(all, 'helm mirror')[0]?.text ?? '', /nothing is downloaded/);
    assert.equal(about(all, 'kubectl mirror').length, 1);
    assert.equal(about(all, 'kustomize mirror').length, 1);
  });

  test('clock differences are reported, except within the precision of the header', () => {
    const header = (milliseconds: number) => new Date(now + milliseconds).toUTCString();
    assert.equal(skewOf(header(0), now + 400, now + 600), 0);
    assert.equal(skewOf(header(60_000), now, now + 100), 60);
    assert.equal(skewOf(header(-60_000), now, now + 100), -59);
    assert.equal(skewOf(null, now, now), null);
  });

  test('the advice about a service that is not ready follows its reason', async (t) => {
    const server = createServer((request, response) => {
      response.statusCode = request.url === '/readyz' ? 503 : 200;
      response.end(
        JSON.stringify({
          code: 'unavailable',
          message: "The built-in agent does not start: see the service's log",
        }),
      );
    }).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = createClient({ url, key: 'key', secret: 'secret', userAgent: 'test' });
    const all = await checkInstallation({ client, url, organizationId: undefined, version: '1' });
    const [ready] = about(all, 'ready');
    assert.match(ready?.text ?? '', /^The built-in agent does not start/);
    assert.match(ready?.advice ?? '', /a setting of the agent/);
    assert.doesNotMatch(ready?.advice ?? '', /database|PostgreSQL/);
    assert.match(adviceForReadiness('The database does not answer'), /PostgreSQL/);
    assert.match(adviceForReadiness('The disk of the data folder is full'), /space/);
    assert.match(adviceForReadiness('Something else'), /log of the service/);
    assert.match(adviceForReadiness(undefined), /reverse proxy/);
  });

  test('without a policy engine, the advice is the whole sentence of the service', async (t) => {
    const why =
      'ENVARIUM_OPA names /nowhere/opa, which this service cannot execute: install opa on the machine';
    const replies: Readonly<Record<string, unknown>> = {
      '/api/organizations': [{ id: 'o', name: 'Example', role: 'Admin' }],
      '/api/approval-policies/engine': { isAvailable: false, problem: why },
    };
    const server = createServer(({ url = '' }, response) => {
      response.end(JSON.stringify(replies[url.split('?')[0] ?? ''] ?? []));
    }).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = createClient({ url, key: 'key', secret: 'secret', userAgent: 'test' });
    const all = await checkInstallation({ client, url, organizationId: undefined, version: '1' });
    const [policies] = about(all, 'policies');
    assert.deepEqual(
      [policies?.standing, policies?.text, policies?.advice],
      ['warning', 'approval policies cannot be evaluated', `${why}.`],
    );
  });

  test('what confines the runs of each agent is reported, with a warning where they have no namespaces', () => {
    const isolation: AgentIsolation = {
      hasNamespaces: true,
      hasSystemCallFilter: true,
      hasOwnUsers: true,
      network: 'none',
      hasControlGroups: true,
      controllers: ['pids'],
      limits: { processes: 9, openFiles: 1, memoryMegabytes: 8, diskMegabytes: 7, fileMegabytes: 1 },
    };
    const weak: AgentIsolation = {
      ...isolation,
      hasNamespaces: false,
      hasControlGroups: false,
      controllers: [],
      network: 'host',
    };
    const about = { version: '1', contactAt: '2026-11-21T12:00:00Z' };
    const agent: Agent = {
      agentKey: 'KEY',
      organizationId: 'o',
      status: 'ACTIVE',
      processes: [
        { ...about, hostname: 'a', isolation },
        { ...about, hostname: 'b', isolation: { ...weak, problem: 'bubblewrap is not installed' } },
        { ...about, isolation: { ...weak, hasOwnUsers: false } },
      ],
    };
    const found = checkProcesses(agent);
    assert.deepEqual(
      found.map(({ standing }) => standing),
      ['ok', 'warning', 'warning'],
    );
    assert.match(
      found[0]?.text ?? '',
      /on a: namespaces, control groups \(pids\), no network; .* 9 processes/,
    );
    assert.match(found[1]?.text ?? '', /on b: user ids; .*no namespaces: bubblewrap is not installed/);
    assert.match(found[2]?.text ?? '', /^of runs: none;/);
    assert.equal(isolationOf(agent), 'namespaces, control groups (pids), no network; user ids; none');
  });

  test('a folder for control groups that an agent cannot use is reported', async () => {
    assert.deepEqual(await checkCgroup({}), []);
    const reported = async (path: string) => {
      const [found] = await checkCgroup({ ENVARIUM_RUN_CGROUP: path });
      return [found?.standing, found?.text];
    };
    assert.deepEqual(await reported(folder), ['problem', `${folder} is not a cgroup v2 folder`]);
    const absent = join(folder, 'absent');
    assert.deepEqual(await reported(absent), ['problem', `${absent} does not exist`]);
  });

  test('stuck deployments are reported with reason and duration', () => {
    const environment = (name: string, more: object) =>
      ({
        id: name,
        name,
        latestDeploymentLog: { id: 'd', status: 'SUCCESS' },
        ...more,
      }) as unknown as Environment;
    const wait = (kind: string) => ({
      waitingFor: { kind, since: '2026-11-21T11:48:00Z', text: `waits for ${kind}` },
    });
    const found = findStuck(
      [
        environment('fine', {}),
        environment('blocked', wait('agent')),
        environment('asking', wait('approval')),
        environment('long', {
          latestDeploymentLog: { id: 'd', status: 'IN_PROGRESS', startedAt: '2026-11-21T05:00:00Z' },
        }),
      ],
      now,
    );
    assert.deepEqual(
      found.map(({ standing, text }) => [standing, text]),
      [
        ['problem', 'blocked: waits for agent (for 12 min 0 s)'],
        ['warning', 'asking: waits for approval (for 12 min 0 s)'],
        ['warning', 'long has been running for 7 h 0 min'],
      ],
    );
    assert.match(found[1]?.advice ?? '', /envarium approve --environment asking/);
    assert.equal(
      findStuck(
        Array.from({ length: 9 }, (_, index) => environment(`e${index}`, wait('agent'))),
        now,
      ).length,
      6,
    );
  });
});
