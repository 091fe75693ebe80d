/** Units that keep their state in a backend of their own, next to units whose state the service stores. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { readUnitStates, unitStates } from '#protocol/tools/terragrunt-state.ts';
import { expectResult } from '../../../testing/outcomes.ts';
import {
  binaries,
  createTerragrunt,
  moduleCode,
  unitCode,
  withTerragrunt,
} from '../../../testing/units/terragrunt-setup.ts';

/** A server for terraform's http backend. */
async function startBackend(
  t: TestContext,
): Promise<{ readonly url: string; readonly states: Map<string, string> }> {
  const states = new Map<string, string>();
  const server = createServer((request, response) => {
    const name = request.url?.split('?')[0] ?? '';
    if (request.method === 'GET') {
      const state = states.get(name);
      return void response.writeHead(state === undefined ? 204 : 200).end(state);
    }
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      states.set(name, body);
      response.writeHead(200).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => (server.closeAllConnections(), server.close()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, states };
}

function rootWith(url: string): string {
  return `remote_state {
  backend = "http"
  generate = {
    path      = "backend.tf"
    if_exists = "overwrite"
  }
  config = {
    address = "${url}/\${path_relative_to_include()}"
  }
}
`;
}

const include = 'include "root" {\n  path = find_in_parent_folders("root.hcl")\n}\n';

for (const binary of binaries) {
  test(
    `units of ${binary} with a remote_state block stay in their backend, and feed the others`,
    withTerragrunt(binary),
    async (t) => {
      const backend = await startBackend(t);
      const setup = createTerragrunt(t, binary, {
        'modules/one/main.tf': moduleCode,
        'live/root.hcl': rootWith(backend.url),
        'live/vpc/terragrunt.hcl': include + unitCode('net'),
        'live/app/terragrunt.hcl': unitCode('app on ${dependency.it.outputs.input}', 'vpc'),
      });
      for (const onOtherMachine of [false, true]) {
        await expectResult('applied', setup.deploy({}, { onOtherMachine }));
      }
      const again = await expectResult('applied', setup.deploy());
      assert.deepEqual([...backend.states.keys()], ['/vpc']);
      const stored = readUnitStates(setup.state() ?? Buffer.of());
      assert.deepEqual([[...stored.units.keys()], stored.elsewhere], [['app'], ['vpc']]);
      assert.equal(unitStates.read(setup.state() ?? Buffer.of()).resourceCount, null);
      assert.equal(again.outcome.outputs?.['app.input']?.value, 'app on net');
      assert.equal(again.outcome.outputs?.['vpc.input']?.value, 'net');
      assert.equal(again.outcome.resourceCount, 2);
      await expectResult('applied', setup.deploy({ type: 'destroy' }));
      assert.deepEqual(
        (JSON.parse(backend.states.get('/vpc') ?? '{}') as { resources?: unknown }).resources,
        [],
      );
    },
  );

  test(
    `a single unit of ${binary} with its own backend leaves no state with the service`,
    withTerragrunt(binary),
    async (t) => {
      const backend = await startBackend(t);
      const files = {
        'modules/one/main.tf': moduleCode,
        'live/root.hcl': rootWith(backend.url),
        'live/vpc/terragrunt.hcl': include + unitCode('net'),
      };
      const setup = createTerragrunt(t, binary, files, false);
      const path = { source: { ...setup.job().source, path: 'live/vpc' } };
      const applied = await expectResult('applied', setup.deploy(path));
      assert.equal(applied.outcome.outputs?.['input']?.value, 'net');
      assert.deepEqual([applied.outcome.isStateOurs, setup.state()], [false, null]);
      assert.deepEqual([...backend.states.keys()], ['/vpc']);
    },
  );
}

test('a unit whose state the service stores cannot get a backend without it', withTerragrunt(), async (t) => {
  const backend = await startBackend(t);
  const setup = createTerragrunt(t, 'opentofu', {
    'modules/one/main.tf': moduleCode,
    'live/root.hcl': rootWith(backend.url),
    'live/vpc/terragrunt.hcl': unitCode('net'),
    'live/app/terragrunt.hcl': unitCode('app'),
  });
  await expectResult('applied', setup.deploy());
  setup.commit({ 'live/vpc/terragrunt.hcl': include + unitCode('net') });
  const { outcome } = await expectResult('failed', setup.plan());
  assert.match(
    outcome.error?.message ?? '',
    /^The service stores the state of unit vpc, and the code has a backend/,
  );
});
