/**
 * Whole services whose runs need providers: one download for all, mirrors for machines that reach nothing,
 * proxies, private authorities.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeAuthority } from '../agent/testing/certificates.ts';
import { startForwardProxy } from '../agent/testing/forward-proxy.ts';
import { startGitHost } from '../agent/testing/git-host.ts';
import { startProviderRegistry, thisPlatform } from '../agent/testing/provider-registry.ts';
import { toolboxProgram, withToolbox } from '../tools/toolbox/places.ts';
import { findProgram, withoutTerraform } from './programs.ts';
import { createEnvironment, homeOf, stepLines, untilStatus, wholeLog } from './runs.ts';
import { makeRepository, type RunningService, removeScratch, startService } from './service.ts';

const run = promisify(execFile);
const needs = { skip: withoutTerraform || withToolbox('provider-time').skip };
const hasBubblewrap = (await findProgram('bwrap')) !== null;
const withBubblewrap = { skip: needs.skip || (hasBubblewrap ? false : 'needs bubblewrap') };
const isolated = 'ACCEPTANCE_IS_ISOLATED';
const code = {
  'main.tf':
    'terraform {\n  required_providers {\n    time = {\n      source = "hashicorp/time"\n    }\n  }\n}\nresource "time_static" "now" {}\noutput "now" {\n  value = time_static.now.unix\n}\n',
};

async function scratch(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'providers-'));
  await chmod(folder, 0o755);
  t.after(() => removeScratch(folder));
  return folder;
}

async function deploy(service: RunningService, repository: string, more: object = {}) {
  const { client } = service;
  const created = await createEnvironment(client, await homeOf(client), { repository, ...more });
  const deployment = await untilStatus(client, created.deploymentId);
  const lines = await stepLines(client, created.deploymentId, 'tf:init').catch(() => []);
  return { id: created.deploymentId, deployment, init: lines.map(({ message }) => message).join('\n') };
}

for (const isOrdinary of [false, true]) {
  const who = isOrdinary ? 'a service that is not root' : 'a service';
  test(
    `environments of ${who} that need a provider at the same time download it once`,
    isOrdinary ? withBubblewrap : needs,
    async () => {
      const content = await readFile(toolboxProgram('provider-time') ?? '');
      await using registry = await startProviderRegistry([
        { name: 'hashicorp/time', version: '0.14.2', content },
      ]);
      const cliConfiguration = `host "registry.terraform.io" {\n  services = { "providers.v1" = "${registry.providers}" }\n}\ncredentials "elsewhere.example" {\n  token = "planted-token"\n}\n`;
      const settings = { ENVARIUM_TERRAFORM_CLI_CONFIG: cliConfiguration, ENVARIUM_AGENT_CONCURRENCY: '4' };
      await using service = await startService({ settings, isOrdinary });
      const { path } = await makeRepository(service.folder, 'code', code);
      const all = await Promise.all(
        Array.from({ length: 4 }, (_, index) => deploy(service, path, { name: `at once ${index}` })),
      );
      for (const { deployment, init } of all)
        assert.equal(deployment.status, 'SUCCESS', `${deployment.error?.message}\n${init}`);
      assert.equal(registry.downloads('hashicorp/time'), 1);
      assert.ok(all.some(({ init }) => /checksum verified, signed by/.test(init)));
      assert.equal(all[0]?.deployment.output?.now?.value !== undefined, true);
      assert.equal(service.log().includes('planted-token'), false);
    },
  );
}

test(
  'code and modules of private hosts are read through a proxy, with a private authority and their own tokens',
  needs,
  async (t) => {
    const folder = await scratch(t);
    const authority = makeAuthority(folder);
    const module = await makeRepository(folder, 'module', {
      'main.tf': 'output "of_module" {\n  value = "loaded"\n}\n',
    });
    const root = dirname(module.path);
    await using first = await startGitHost({ root, authority, credentials: 'ada:token-of-the-first' });
    await using second = await startGitHost({ root, authority, credentials: 'token:token-of-the-second' });
    const place = (host: string) => `localhost:${host.split(':')[1]}`;
    const names = { 'code.example:443': place(first.host), 'modules.example:443': place(second.host) };
    await using proxy = await startForwardProxy({
      credentials: 'user:password-of-the-proxy',
      rewrite: names,
    });
    const uses = await makeRepository(folder, 'uses', {
      'main.tf': `module "one" {\n  source = "git::https://localhost:${second.host.split(':')[1]}/module"\n}\noutput "of_module" {\n  value = module.one.of_module\n}\nresource "terraform_data" "print" {\n  provisioner "local-exec" {\n    command = "env; cat $TF_CLI_CONFIG_FILE"\n  }\n}\n`,
    });
    assert.ok(uses.path.startsWith(root));
    const cliConfiguration = 'credentials "elsewhere.example" {\n  token = "token-of-the-operator"\n}\n';
    const settings = {
      ENVARIUM_CA_FILE: authority.file,
      HTTPS_PROXY: proxy.url,
      ENVARIUM_TERRAFORM_CLI_CONFIG: cliConfiguration,
    };
    await using service = await startService({ settings });
    const { client } = service;
    const { organizationId } = await homeOf(client);
    const hosts = [`localhost:${second.host.split(':')[1]}`];
    await client.call('createGitToken', {
      body: { organizationId, name: 'modules', value: 'token-of-the-second', hosts },
    });
    const repository = first.url.replace('https://', 'https://ada:token-of-the-first@');
    const { id, deployment, init } = await deploy(service, `${repository}/uses`);
    assert.equal(deployment.status, 'SUCCESS', `${deployment.error?.message}\n${init}`);
    assert.equal(deployment.output?.of_module?.value, 'loaded');
    const sent = (requests: typeof first.requests) => [
      ...new Set(requests.flatMap(({ authorization }) => authorization ?? [])),
    ];
    assert.deepEqual(sent(second.requests), [
      `Basic ${Buffer.from('token:token-of-the-second').toString('base64')}`,
    ]);
    assert.equal(proxy.requests.length, 0, 'the machine itself is reached without the proxy');
    const far = await deploy(service, 'https://ada:token-of-the-first@code.example/uses', { name: 'far' });
    assert.ok(
      proxy.requests.includes('CONNECT code.example:443'),
      `${far.deployment.error?.message}: ${proxy.requests.join(', ')}`,
    );
    assert.match(far.deployment.error?.message ?? '', /certificate/);
    const log = await wholeLog(client, id);
    assert.match(log, /HTTPS_PROXY=http:\/\/user:\*+@127\.0\.0\.1/);
    assert.match(log, /provider_installation/);
    assert.equal(log.includes('elsewhere.example'), false, 'the agent uses the token for the runs');
    for (const secret of ['password-of-the-proxy', 'token-of-the-operator', 'token-of-the-second'])
      assert.equal(log.includes(secret), false, secret);
    for (const secret of ['password-of-the-proxy', 'token-of-the-first', 'token-of-the-second'])
      assert.equal(service.log().includes(secret), false);
  },
);

test(
  'an unknown authority is reported by name, and a file without a certificate stops the start',
  needs,
  async (t) => {
    const folder = await scratch(t);
    const { file } = makeAuthority(folder);
    const other = join(folder, 'none.pem');
    await writeFile(other, 'nothing');
    await assert.rejects(
      startService({ settings: { ENVARIUM_CA_FILE: other } }),
      /ENVARIUM_CA_FILE names .*none\.pem, which contains no certificate/,
    );
    await assert.rejects(
      startService({ settings: { ENVARIUM_CA_FILE: `${file}.gone` } }),
      /ENVARIUM_CA_FILE names .*gone, which cannot be read/,
    );
    await assert.rejects(
      startService({ settings: { HTTPS_PROXY: 'socks5://user:hidden@host' } }),
      (error: Error) => {
        assert.match(error.message, /HTTPS_PROXY must be an http:\/\/ or https:\/\/ address/);
        assert.doesNotMatch(error.message, /hidden/);
        return true;
      },
    );
  },
);

async function canIsolate(): Promise<boolean> {
  const [unshare, ip] = [await findProgram('unshare'), await findProgram('ip')];
  if (unshare === null || ip === null) return false;
  return run(unshare, ['-n', ip, 'link', 'set', 'lo', 'up']).then(
    () => true,
    () => false,
  );
}

if (process.env[isolated]) {
  test('in a network of its own', async (t) => {
    await run('ip', ['link', 'set', 'lo', 'up']);
    const { stdout: routes } = await run('ip', ['route']);
    assert.equal(routes.trim(), '', 'nothing but the machine itself is reached');
    const folder = await scratch(t);
    const place = join(
      folder,
      'mirror',
      'registry.terraform.io',
      'hashicorp',
      'time',
      '0.14.2',
      thisPlatform,
    );
    await mkdir(place, { recursive: true });
    await symlink(toolboxProgram('provider-time') ?? '', join(place, 'terraform-provider-time_v0.14.2'));
    await using service = await startService({
      settings: { ENVARIUM_PROVIDER_MIRROR: join(folder, 'mirror') },
    });
    const { path } = await makeRepository(service.folder, 'code', code);
    const { deployment, init } = await deploy(service, path);
    assert.equal(deployment.status, 'SUCCESS', `${deployment.error?.message}\n${init}`);
    const lacking = await makeRepository(service.folder, 'lacking', {
      'main.tf':
        'terraform {\n  required_providers {\n    none = {\n      source = "hashicorp/none"\n    }\n  }\n}\n',
    });
    const failed = await deploy(service, lacking.path, { name: 'lacking' });
    assert.equal(failed.deployment.status, 'FAILURE');
    assert.match(
      failed.deployment.error?.message.replaceAll(/\s+/g, ' ') ?? '',
      /hashicorp\/none was not found in any of the search locations/,
    );
  });
} else {
  const skip =
    needs.skip || ((await canIsolate()) ? false : 'needs a right to make a network of its own (unshare -n)');
  test('a machine without a network deploys from a mirror', { skip }, async () => {
    const own = fileURLToPath(import.meta.url);
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
    const inside = ['-n', process.execPath, '--test', '--test-name-pattern=in a network of its own', own];
    await run('unshare', inside, { env: { ...environment, [isolated]: 'yes' } }).catch(
      (error: { stdout?: string }) => assert.fail(error.stdout),
    );
  });
}
