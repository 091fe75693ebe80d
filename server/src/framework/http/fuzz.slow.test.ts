/** A fuzzer of its own makes requests from the OpenAPI document, as callers with different roles. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pythonProgram } from '../../../../tools/toolbox/places.ts';
import { testAgent } from '../../../testing/agent.ts';
import { type TestApp, testApp } from '../../../testing/app.ts';
import { createActive } from '../../../testing/environment.ts';
import { aimedDocument } from '../../../testing/fuzzing/aimed-document.ts';
import { makeSamples } from '../../../testing/samples.ts';

const leastRequests = 10_000;
const program = pythonProgram('schemathesis');
const reason = 'needs schemathesis: "npm run toolbox -- schemathesis" installs it from PyPI';
if (program === null && process.env.TOOLBOX_REQUIRED) throw new Error(`This test ${reason}`);

const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'unsupported_method',
  'allow_header_conformance',
];

type Caller = (app: TestApp) => Promise<{ id: string; secret: string }>;

const roleInProject =
  (role: string): Caller =>
  (app) => {
    const { organizationId, projectId } = app;
    return app.addKey({ [organizationId]: 'User' }, [{ organizationId, projectId, role }]);
  };

const callers: Readonly<Record<string, Caller>> = {
  'an admin of the organization': async ({ admin }) => admin,
  'a deployer': roleInProject('Deployer'),
  'a viewer': roleInProject('Viewer'),
};

let requests = 0;

for (const [who, makeKey] of Object.entries(callers))
  test(`whatever ${who} sends is answered as the OpenAPI document says`, {
    skip: program === null && reason,
    timeout: 1_800_000,
  }, async () => {
    const app = await testApp();
    const environment = await createActive(app, await testAgent(app));
    const { ids } = await makeSamples(app, environment);
    const key = await makeKey(app);
    const address = await app.listen();
    app.app.server.on('request', () => requests++);
    const document = join(app.folder, 'openapi.json');
    await writeFile(document, JSON.stringify(aimedDocument({ ...ids, project: app.projectId })));
    const { status, output } = await fuzz(app.folder, [
      document,
      `--url=${address}/api`,
      `--auth=${key.id}:${key.secret}`,
      '--phases=examples,coverage,fuzzing',
      `--checks=${checks.join(',')}`,
      '--max-examples=10',
      '--continue-on-failure',
      '--no-shrink',
      '--request-timeout=30',
      '--suppress-health-check=all',
      '--warnings=off',
      '--no-color',
    ]);
    const failures = app.logged.filter((line) => line.includes('"level":50'));
    assert.deepEqual(failures.slice(0, 5), []);
    assert.equal(status, 0, output.slice(-20_000));
  });

test('the fuzzer has sent as many requests as it should', { skip: program === null && reason }, () => {
  assert.ok(requests >= leastRequests, `${requests} requests`);
});

function fuzz(folder: string, args: readonly string[]): Promise<{ status: unknown; output: string }> {
  return new Promise((resolve) => {
    const options = { cwd: folder, maxBuffer: 100_000_000, env: { ...process.env, PYTHONUTF8: '1' } };
    execFile(program as string, ['run', ...args], options, (error, stdout, stderr) =>
      resolve({ status: error?.code ?? 0, output: stdout + stderr }),
    );
  });
}
