import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { proxyEnvironment } from '#settings/network.ts';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { makeAuthority, withoutOpenssl } from '../../testing/certificates.ts';
import { startForwardProxy } from '../../testing/forward-proxy.ts';
import { startGitHost } from '../../testing/git-host.ts';
import { expectResult, failureMessageOf } from '../../testing/outcomes.ts';
import { startProviderRegistry } from '../../testing/provider-registry.ts';
import { createSetup, type RunnerSetup, withBubblewrap, withTerraform } from '../../testing/runner-setup.ts';
import { prepareNetwork } from '../network/network-order.ts';
import { findProgram } from '../processes/programs.ts';

const withOpenssl = { skip: withTerraform.skip || withoutOpenssl };
const code = { 'main.tf': 'resource "terraform_data" "one" {}\n' };

function repositories(setup: RunnerSetup): string {
  return dirname(setup.repository);
}

test(
  'a repository with a certificate of a private authority is read with the setting, and refused without',
  withOpenssl,
  async (t) => {
    const authority = makeAuthority(temporaryFolder(t, 'network-'));
    const setup = createSetup(t, { ...code, 'module/main.tf': '' });
    await using host = await startGitHost({
      root: repositories(setup),
      authority,
      credentials: 'ada:secret-of-the-host',
    });
    setup.commit({
      'main.tf': `module "one" {\n  source = "git::${host.url}/code//module"\n}\nresource "terraform_data" "one" {}\n`,
    });
    const { source } = setup.job();
    const credentials = { username: 'ada', password: 'secret-of-the-host' };
    const job = () => setup.job({ source: { ...source, repository: `${host.url}/code`, credentials } });
    const refused = await setup.run(job());
    assert.match(
      failureMessageOf(refused),
      /is not trusted by the agent's machine: set ENVARIUM_CA_FILE to a file with the certificate of its authority/,
    );
    const { order } = prepareNetwork(authority.file, {}, setup.workFolder);
    const ran = await expectResult('planned', setup.run(job(), { order: { network: order } }));
    assert.match(ran.log('tf:init'), /Downloading git::https:/);
    assert.ok(
      readFileSync(order.caFile ?? '', 'utf8').split('BEGIN CERTIFICATE').length > 2,
      "the machine's own authorities count as well",
    );
  },
);

test(
  'a module of a second private host is loaded with its own token, which is sent to no other host',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, { ...code, 'module/main.tf': '' });
    await using own = await startGitHost({
      root: repositories(setup),
      credentials: 'ada:token-of-the-first',
    });
    await using other = await startGitHost({
      root: repositories(setup),
      credentials: 'bob:token-of-the-second',
    });
    setup.commit({
      'main.tf': `module "one" {\n  source = "git::${other.url}/code//module"\n}\nresource "terraform_data" "one" {}\n`,
    });
    const { source } = setup.job();
    const hostCredentials = [{ host: other.host, username: 'bob', password: 'token-of-the-second' }];
    const reading = {
      ...source,
      repository: `${own.url}/code`,
      credentials: { username: 'ada', password: 'token-of-the-first' },
    };
    await expectResult('failed', setup.run(setup.job({ source: reading })));
    assert.ok(other.requests.every(({ authorization }) => authorization === undefined));
    await expectResult('planned', setup.run(setup.job({ source: { ...reading, hostCredentials } })));
    const sent = (requests: typeof own.requests) =>
      new Set(requests.flatMap(({ authorization }) => authorization ?? []));
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    assert.deepEqual([...sent(own.requests)], [basic('ada:token-of-the-first')]);
    assert.deepEqual([...sent(other.requests)], [basic('bob:token-of-the-second')]);
    for (const file of filesBelow(setup.workFolder))
      assert.equal(readFileSync(file).includes('token-of-the-'), false, `${file} holds a token`);
  },
);

test(
  'no command of the tool has a token, and only the one that loads modules has the configuration of git',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, code);
    const wrapper = join(setup.folder, 'terraform');
    const real = findProgram('terraform') ?? '';
    const script =
      'echo "$1 has $(git config --global http.lowSpeedTime), $(env | grep -c Authorization) tokens" >&2';
    writeFileSync(wrapper, `#!/bin/sh\n${script}\nexec ${real} "$@"\n`, { mode: 0o755 });
    const { source } = setup.job();
    const hostCredentials = [{ host: 'other.example', username: 'bob', password: 'token-of-the-second' }];
    const toolPaths = { terraform: wrapper, git: findProgram('git') ?? '' };
    const ran = await expectResult(
      'planned',
      setup.run(setup.job({ source: { ...source, hostCredentials } }), { toolPaths }),
    );
    assert.match(ran.log('tf:init'), /^init has 30, 0 tokens$/m);
    assert.match(ran.log('tf:plan'), /^plan has , 0 tokens$/m);
    const elsewhere = await expectResult(
      'applied',
      setup.run(setup.applyJob(ran, { onOtherMachine: true }), { toolPaths }),
    );
    assert.match(elsewhere.log('apply:prepare'), /^init has 30, 0 tokens$/m);
  },
);

test('a program of the repository that is called as git finds no token', withTerraform, (t) =>
  callsOwnGit(t),
);
test('in bubblewrap, a program that is called as git finds no token either', withBubblewrap, (t) =>
  callsOwnGit(t, { asOrdinaryUser: true }),
);

async function callsOwnGit(t: TestContext, options: { asOrdinaryUser?: boolean } = {}): Promise<void> {
  const setup = createSetup(t, { ...code, 'module/main.tf': '' }, options);
  await using other = await startGitHost({
    root: repositories(setup),
    credentials: 'bob:token-of-the-second',
  });
  const program = join(setup.repository, 'bin/git');
  const spy = 'echo "spied: $(env | sed -n "s/.*Basic //p" | base64 -d)" >> "$SPY"';
  setup.commit({ 'bin/git': `#!/bin/sh\n${spy}\nexec /usr/bin/git "$@"\n` });
  chmodSync(program, 0o755);
  const source = `git::${other.url}/code//module`;
  setup.commit({
    'main.tf': `module "one" {\n  source = "${source}"\n}\nresource "terraform_data" "one" {}\n`,
  });
  const tree = join(setup.workFolder, '00000000-0000-7000-8000-0000000000e1', 'tree');
  const heard = join(tree, 'heard');
  const variables = { PATH: `${tree}/bin:/usr/bin:/bin`, SPY: heard };
  const hostCredentials = [{ host: other.host, username: 'bob', password: 'token-of-the-second' }];
  const ran = await setup.run(
    setup.job({
      source: { ...setup.job().source, hostCredentials },
      variables: {
        environment: Object.entries(variables).map(([name, value]) => ({ name, value, isSensitive: false })),
        terraform: [],
      },
    }),
  );
  assert.equal(ran.outcome.result, 'planned', JSON.stringify(ran.outcome));
  const spied = readFileSync(heard, 'utf8');
  assert.match(spied, /^spied: $/m, 'it was called');
  assert.doesNotMatch(spied, /token-of-the-second/);
  assert.ok(other.requests.some(({ authorization }) => authorization !== undefined));
}

test('the token of a private registry of modules is sent to its host only', withTerraform, async (t) => {
  const setup = createSetup(t, { ...code, 'module/main.tf': '' });
  await using modules = await startGitHost({
    root: repositories(setup),
    answer(request, response) {
      if (!request.url?.startsWith('/v1/modules/')) return false;
      if (request.headers.authorization !== 'Bearer token-of-the-registry') response.writeHead(401).end();
      else if (request.url.endsWith('/versions'))
        response.end(JSON.stringify({ modules: [{ versions: [{ version: '1.0.0' }] }] }));
      else response.writeHead(204, { 'x-terraform-get': `git::${modules.url}/code//module` }).end();
      return true;
    },
  });
  await using elsewhere = await startProviderRegistry([]);
  setup.commit({
    'main.tf':
      'module "one" {\n  source  = "modules.example/acme/one/any"\n  version = "1.0.0"\n}\nresource "terraform_data" "one" {}\n',
  });
  const operator = {
    rest: '',
    hosts: {
      'modules.example': { 'modules.v1': `${modules.url}/v1/modules/` },
      'registry.terraform.io': { 'providers.v1': elsewhere.providers },
    },
    credentials: {},
    installation: null,
  };
  const order = {
    providers: {
      cache: { folder: join(setup.workFolder, '.providers'), limitBytes: 1e9 },
      mirror: null,
      operator,
    },
  };
  await expectResult('failed', setup.run(setup.job(), { order }));
  const ran = await setup.run(
    setup.job({ registryCredentials: [{ host: 'modules.example', token: 'token-of-the-registry' }] }),
    { order },
  );
  assert.equal(ran.outcome.result, 'planned', JSON.stringify(ran.outcome));
  assert.ok(elsewhere.requests.every(({ authorization }) => authorization === undefined));
  assert.equal(existsSync(join(setup.workFolder, '00000000-0000-7000-8000-0000000000e1', 'cli.tfrc')), false);
  const variable = { name: 'TF_TOKEN_modules_example', value: 'token-of-the-registry', isSensitive: true };
  const own = await setup.run(setup.job({ variables: { environment: [variable], terraform: [] } }), {
    order,
  });
  assert.equal(own.outcome.result, 'planned', JSON.stringify(own.outcome));
});

test(
  'providers of a registry with a token are fetched for their own run only, and not cached',
  withTerraform,
  async (t) => {
    await using registry = await startProviderRegistry([{ name: 'acme/one', version: '1.2.0' }], {
      token: 'token-of-the-registry',
    });
    const setup = createSetup(t, {
      'main.tf':
        'terraform {\n  required_providers {\n    one = {\n      source = "private.example/acme/one"\n    }\n  }\n}\nresource "terraform_data" "one" {}\n',
    });
    const operator = {
      rest: '',
      hosts: { 'private.example': { 'providers.v1': registry.providers } },
      credentials: {},
      installation: null,
    };
    const folder = join(setup.workFolder, '.providers');
    const order = { providers: { cache: { folder, limitBytes: 1e9 }, mirror: null, operator } };
    const ran = await setup.run(
      setup.job({ registryCredentials: [{ host: 'private.example', token: 'token-of-the-registry' }] }),
      { order },
    );
    assert.equal(ran.steps()['tf:init'], 'SUCCESS', ran.log('tf:init'));
    assert.deepEqual(readdirSync(join(folder, 'packages')), []);
    const lacking = await setup.run(setup.job(), { order });
    assert.match(failureMessageOf(lacking), /acme\/one: .* status 401/);
  },
);

test(
  'git, the tool and provider downloads use the proxies, except for the own machine',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, { ...code, 'module/main.tf': '' });
    await using git = await startGitHost({ root: repositories(setup) });
    await using registry = await startProviderRegistry([{ name: 'acme/one', version: '1.2.0' }]);
    const port = (url: string) => new URL(url).host;
    await using proxy = await startForwardProxy({
      credentials: 'user:password-of-the-proxy',
      rewrite: {
        'git.example:80': git.host,
        'git.example': git.host,
        'registry.example': port(registry.url),
        'registry.example:80': port(registry.url),
      },
    });
    setup.commit({
      'main.tf':
        'terraform {\n  required_providers {\n    one = {\n      source = "acme/one"\n    }\n  }\n}\nmodule "one" {\n  source = "git::http://git.example/code//module"\n}\nresource "terraform_data" "one" {}\n',
    });
    const operator = {
      rest: '',
      hosts: { 'registry.terraform.io': { 'providers.v1': 'http://registry.example/v1/providers/' } },
      credentials: {},
      installation: null,
    };
    registry.base('http://registry.example');
    const order = {
      network: { environment: proxyEnvironment({ HTTP_PROXY: proxy.url }) },
      providers: {
        cache: { folder: join(setup.workFolder, '.providers'), limitBytes: 1e9 },
        mirror: null,
        operator,
      },
    };
    const { source } = setup.job();
    const job = setup.job({
      source: { ...source, repository: 'http://git.example/code', httpHosts: ['git.example'] },
    });
    const ran = await setup.run(job, { order });
    assert.equal(ran.steps()['git:clone'], 'SUCCESS', JSON.stringify(ran.outcome));
    assert.equal(ran.steps()['tf:init'], 'SUCCESS', ran.log('tf:init'));
    for (const place of ['http://git.example/code/info/refs', 'registry.example'])
      assert.ok(
        proxy.requests.some((request) => request.includes(place)),
        `${place} in ${proxy.requests.join('\n')}`,
      );
    assert.equal(registry.downloads('acme/one'), 1);
    assert.equal(
      proxy.requests.some((request) => request.includes('127.0.0.1')),
      false,
    );
    const excepted = {
      ...order,
      network: { environment: proxyEnvironment({ HTTP_PROXY: proxy.url, NO_PROXY: 'git.example' }) },
    };
    const failing = await setup.run({ ...job, jobId: `${job.jobId}-b` }, { order: excepted });
    assert.match(failureMessageOf(failing), /its host is unknown on the agent's network/);
  },
);

test('a proxy that refuses a connection is reported as the cause', withTerraform, async (t) => {
  const setup = createSetup(t, code);
  await using proxy = await startForwardProxy({ credentials: 'user:right' });
  const { source } = setup.job();
  const environment = proxyEnvironment({ HTTPS_PROXY: proxy.url.replace('right', 'wrong') });
  const ran = await setup.run(setup.job({ source: { ...source, repository: 'https://git.example/code' } }), {
    order: { network: { environment } },
  });
  assert.match(
    failureMessageOf(ran),
    /cannot be reached through the proxy of the agent \(HTTPS_PROXY, HTTP_PROXY\)/,
  );
});

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
