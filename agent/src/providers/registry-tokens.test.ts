import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { startGitHost } from '../../testing/git-host.ts';
import { expectResult } from '../../testing/outcomes.ts';
import { startProviderRegistry } from '../../testing/provider-registry.ts';
import { createSetup, type RunnerSetup, withTerraform } from '../../testing/runner-setup.ts';
import { findProgram } from '../processes/programs.ts';
import { stateHostsNamedIn } from './installation.ts';

const token = 'ORG-REGISTRY-TOKEN-5432';
const reversed = token.split('').reverse().join('');
const noOperator = { rest: '', hosts: {}, credentials: {}, installation: null };

function orderFor(setup: RunnerSetup, operator: object = {}) {
  const cache = { folder: join(setup.workFolder, '.providers'), limitBytes: 1e9 };
  return { providers: { cache, mirror: null, operator: { ...noOperator, ...operator } } };
}

/** A tool that shows its CLI configuration before each command. */
function spyingTool(setup: RunnerSetup): Record<string, string> {
  const wrapper = join(setup.folder, 'terraform');
  const spy = 'sed "s/^/$1: /" "$TF_CLI_CONFIG_FILE" >&2';
  writeFileSync(wrapper, `#!/bin/sh\n${spy}\nexec ${findProgram('terraform')} "$@"\n`, { mode: 0o755 });
  return { terraform: wrapper, git: findProgram('git') ?? '' };
}

test(
  'code of a repository finds no token of the organization in the CLI configuration',
  withTerraform,
  async (t) => {
    const command = 'rev < $TF_CLI_CONFIG_FILE';
    const setup = createSetup(t, {
      'main.tf': `resource "terraform_data" "spy" {\n  provisioner "local-exec" {\n    command = "${command}"\n  }\n}\n`,
    });
    const registryCredentials = [{ host: 'private.example', token }];
    const order = orderFor(setup, { credentials: { 'operators.example': { token } } });
    const planned = await expectResult('planned', setup.run(setup.job({ registryCredentials }), { order }));
    const applied = await expectResult('applied', setup.run(setup.applyJob(planned), { order }));
    assert.match(applied.log('tf:apply'), /noitallatsni_redivorp/, 'the file was read');
    assert.equal(applied.log('tf:apply').includes(reversed), false);
  },
);

test(
  'no command of the tool has the token of a registry, and init installs from it',
  withTerraform,
  async (t) => {
    const setup = createSetup(t, { 'main.tf': '', 'module/main.tf': '' });
    await using registry = await startProviderRegistry([{ name: 'acme/one', version: '1.2.0' }], { token });
    await using modules = await startGitHost({
      root: dirname(setup.repository),
      answer(request, response) {
        if (!request.url?.startsWith('/v1/modules/')) return false;
        if (request.headers.authorization !== `Bearer ${token}`) response.writeHead(401).end();
        else if (request.url.endsWith('/versions'))
          response.end(JSON.stringify({ modules: [{ versions: [{ version: '1.0.0' }] }] }));
        else response.writeHead(204, { 'x-terraform-get': `git::${modules.url}/code//module` }).end();
        return true;
      },
    });
    setup.commit({
      'main.tf':
        'terraform {\n  required_providers {\n    one = {\n      source = "private.example/acme/one"\n    }\n  }\n}\nmodule "one" {\n  source  = "private.example/acme/one/any"\n  version = "1.0.0"\n}\nresource "terraform_data" "one" {}\n',
    });
    const hosts = {
      'private.example': { 'providers.v1': registry.providers, 'modules.v1': `${modules.url}/v1/modules/` },
    };
    const registryCredentials = [{ host: 'private.example', token }];
    const ran = await setup.run(setup.job({ registryCredentials }), {
      order: orderFor(setup, { hosts }),
      toolPaths: spyingTool(setup),
    });
    assert.equal(ran.steps()['tf:init'], 'SUCCESS', ran.log('tf:init'));
    for (const step of ['tf:init', 'tf:plan']) assert.ok(!ran.log(step).includes(token), step);
    assert.match(ran.log('tf:init'), /init: .*"?providers\.v1"? = "http:\/\/127\.0\.0\.1/);
    assert.ok(registry.requests.some(({ authorization }) => authorization === `Bearer ${token}`));
  },
);

test(
  'only hosts where the code keeps its state have their tokens in the CLI configuration',
  withTerraform,
  async (t) => {
    const cloud = 'cloud {\n    hostname = "states.example"\n    organization = "acme"\n  }';
    const setup = createSetup(t, { 'main.tf': `terraform {\n  ${cloud}\n}\n` });
    const registryCredentials = [
      { host: 'states.example', token: 'token-of-the-states' },
      { host: 'private.example', token },
    ];
    const ran = await setup.run(setup.job({ registryCredentials }), {
      order: orderFor(setup),
      toolPaths: spyingTool(setup),
    });
    assert.match(ran.log('tf:init'), /init: credentials "states\.example"/);
    assert.doesNotMatch(ran.log('tf:init'), /credentials "private/);
    assert.equal(ran.log('tf:init').includes(token), false);
  },
);

test('hosts of states are those that the code names for a cloud block or a remote backend', () => {
  assert.deepEqual(stateHostsNamedIn('backend "s3" {\n  hostname = "a.example"\n}'), []);
  assert.deepEqual(stateHostsNamedIn('cloud {\n  organization = "one"\n}'), ['app.terraform.io']);
  for (const text of [
    'backend "remote" {\n  hostname = "A.example"\n}',
    'data "terraform_remote_state" "x" {\n  backend = "remote"\n  config = { hostname = "a.example" }\n}',
    '{"terraform":{"cloud":{"hostname":"a.example"}}}',
  ])
    assert.deepEqual(stateHostsNamedIn(text), ['app.terraform.io', 'a.example'], text);
});
