import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { covers } from '#contract/documents/coverage.ts';
import { operations } from '#contract/operations.ts';
import type { ErrorBody } from '#contract/schema/errors.ts';
import { testAgent } from '../../../testing/agent.ts';
import { testApp } from '../../../testing/app.ts';
import { basic, call, ok, refused, send } from '../../../testing/client.ts';
import { createBody, createIdle } from '../../../testing/environment.ts';

const app = await testApp();
const environment = await createIdle(app);
const params = { id: environment.id };

async function count(table: 'environment' | 'template' | 'deployment' | 'variable'): Promise<number> {
  const { rows } = await app.database.pool.query<{ count: number }>(
    `select count(*)::int as count from ${table}`,
  );
  return rows[0]?.count ?? -1;
}

test('a body that is not JSON or has the wrong shape is refused by name, and nothing is written', async () => {
  const before = [await count('environment'), await count('template')];
  const refusals: [body: unknown, message: RegExp][] = [
    ['{"name": "x"', /body is not valid JSON/],
    ['', /body is required/],
    ['[]', /\/body must be object/],
    ['"text"', /\/body must be object/],
    ['null', /\/body must be object/],
    [{}, /\/body\/name is required/],
    [createBody(app, { name: 7 }), /\/body\/name must be string/],
    [createBody(app, { name: '' }), /\/body\/name/],
    [createBody(app, { name: 'x'.repeat(5000) }), /\/body\/name/],
    [createBody(app, { name: 'a\0' }), /NUL/],
    [createBody(app, { projectId: '' }), /\/body\/projectId/],
    [createBody(app, { requiresApproval: 'true' }), /\/body\/requiresApproval must be boolean/],
    [createBody(app, { githubInstallationId: '7' }), /\/body\/githubInstallationId must be integer,null/],
    [createBody(app, { naem: 'x' }), /\/body\/naem is not a field/],
    [createBody(app, { deployRequest: { targts: [] } }), /\/body\/deployRequest\/targts is not a field/],
    [
      createBody(app, { configurationChanges: [{ name: 'a', value: 1 }] }),
      /\/body\/configurationChanges\/0\/value must be string/,
    ],
    [
      createBody(app, { configurationChanges: [{ name: 'a', isReadOnly: true }] }),
      /\/body\/configurationChanges\/0\/isReadOnly is not a field/,
    ],
    [
      createBody(app, { configurationChanges: { name: 'a', hidden: true } }),
      /\/body\/configurationChanges\/hidden is not a field/,
    ],
    [createBody(app, { type: 'bicep' }), /\/body\/type must be one of/],
    [createBody(app, { ttl: { type: 'DATE', value: 'tomorrow' } }), /\/body\/ttl\/value/],
    [createBody(app, { ttl: { type: 'HOURS', value: '-1' } }), /\/body\/ttl\/value/],
    [createBody(app, { ttl: { type: 'DATE', value: 'Dec 25, 2099' } }), /\/body\/ttl\/value/],
    [createBody(app, { terraformVersion: 'newest' }), /\/body\/terraformVersion/],
    [createBody(app, { retry: { onDeploy: { times: 4 } } }), /\/body\/retry\/onDeploy\/times/],
    [createBody(app, { workspaceName: '../x' }), /\/body\/workspaceName/],
    ['{"__proto__": {"x": 1}}', /__proto__|required/],
  ];
  for (const [body, message] of refusals) {
    const refusal = await refused(app, 'createEnvironmentWithoutTemplate', 400, { body });
    assert.match(refusal.message, message, JSON.stringify(body).slice(0, 200));
    assert.equal(refusal.code, 'bad_request');
  }
  assert.deepEqual([await count('environment'), await count('template')], before);
});

test('an operation with an optional body accepts an empty one of any content type', async () => {
  covers('deployEnvironment');
  for (const type of [
    undefined,
    'application/json',
    'application/x-www-form-urlencoded',
    'text/plain',
    'application/vnd.api+json',
    'application/octet-stream',
    'json',
    ';charset=utf-8',
    'application/',
    'a b/c',
    '/',
    '*/*',
  ]) {
    const response = await call(app, 'deployEnvironment', {
      params,
      headers: { ...(type ? { 'content-type': type } : {}), 'content-length': '0' },
    });
    assert.equal(response.statusCode, 200, `${type}: ${response.body}`);
  }
  for (const body of ['{}', ' \n', 'null'])
    assert.equal(
      (
        await call(app, 'deployEnvironment', {
          params,
          body,
          headers: { 'content-type': 'application/json' },
        })
      ).statusCode,
      200,
      body,
    );
});

test('an operation without a body ignores any body', async () => {
  for (const payload of ['{}', 'no json {', '']) {
    const got = await send(app, {
      method: 'GET',
      url: `/api/environments/${environment.id}`,
      headers: { 'content-type': 'application/json' },
      payload,
    });
    assert.equal(got.statusCode, 200);
    const cancelled = await send(app, {
      method: 'PUT',
      url: `/api/environments/${environment.id}/deployments/cancel`,
      payload,
    });
    assert.equal(cancelled.statusCode, 200, cancelled.body);
  }
});

/** As the Go client sends it: chunked, empty, without content type. */
function sendChunked(url: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method: 'POST', headers: { authorization: basic(app.admin), 'transfer-encoding': 'chunked' } },
      (response) => {
        let text = '';
        response
          .setEncoding('utf8')
          .on('data', (part: string) => (text += part))
          .on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    sent.on('error', reject).end();
  });
}

test('an empty chunked body without content type counts as absent', async () => {
  const address = await app.listen();
  const { status, text } = await sendChunked(`${address}/api/environments/${environment.id}/deployments`);
  assert.equal(status, 200, text);
});

test('JSON of another content type is read as JSON', async () => {
  const response = await call(app, 'updateEnvironment', {
    params,
    body: '{"requiresApproval": false}',
    headers: { 'content-type': 'application/vnd.api+json' },
  });
  assert.equal(response.json<{ requiresApproval: boolean }>().requiresApproval, false);
  const text = await call(app, 'updateEnvironment', {
    params,
    body: '{"requiresApproval": true}',
    headers: { 'content-type': 'text/plain' },
  });
  assert.equal(text.json<{ requiresApproval: boolean }>().requiresApproval, true);
});

test('a body that says that it is something else than JSON is refused with 415', async () => {
  for (const [type, payload] of [
    ['application/x-www-form-urlencoded', 'name=a'],
    ['application/x-www-form-urlencoded', '{"name":"a"}'],
    ['multipart/form-data; boundary=x', '--x--'],
    ['text/xml', '<name>a</name>'],
    ['application/xml; charset=utf-8', '<a/>'],
    ['text/html', '<p>'],
    ['application/yaml', 'name: a'],
    ['image/png', 'PNG'],
  ] as const) {
    const refusal = await refused(app, 'updateEnvironment', 415, {
      params,
      body: payload,
      headers: { 'content-type': type },
    });
    assert.equal(refusal.code, 'unsupported_media_type');
    assert.ok(refusal.message.startsWith(`The header Content-Type has "${type}"`), refusal.message);
  }
  await refused(app, 'updateEnvironment', 400, {
    params,
    body: 'name=a',
    headers: { 'content-type': 'application/json; charset=utf-8' },
  });
});

test('unknown fields are dropped and listed if the setting says so', async () => {
  const lenient = await testApp({ ENVARIUM_UNKNOWN_FIELDS: 'ignore' });
  const body = createBody(lenient, {
    preventAutoDeploy: true,
    naem: 'x',
    deployRequest: { targts: [], comment: 'c' },
    configurationChanges: [{ name: 'a', value: 'v', isReadOnly: true }],
  });
  const response = await call(lenient, 'createEnvironmentWithoutTemplate', { body });
  assert.equal(response.statusCode, 200, response.body);
  assert.deepEqual(String(response.headers['x-envarium-ignored-fields']).split(', ').sort(), [
    'configurationChanges.0.isReadOnly',
    'deployRequest.targts',
    'naem',
  ]);
  const unusual = await call(lenient, 'createEnvironmentWithoutTemplate', {
    body: createBody(lenient, { preventAutoDeploy: true, 'ü\n,': 1 }),
  });
  assert.deepEqual(
    [unusual.statusCode, unusual.headers['x-envarium-ignored-fields']],
    [200, encodeURIComponent('ü\n,')],
  );
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`unknown${index}`, index]));
  await refused(lenient, 'createEnvironmentWithoutTemplate', 400, /\/body\/unknown\d+ is not a field/, {
    body: { ...body, ...many },
  });
  await refused(lenient, 'createEnvironmentWithoutTemplate', 400, /\/body\/name must be string/, {
    body: { ...body, name: 7 },
  });
});

test('a body that is not UTF-8 is refused, and nothing is written', async () => {
  const before = await count('environment');
  const text = JSON.stringify(createBody(app, { name: 'caf\u00e9', preventAutoDeploy: true }));
  const post = (payload: Buffer) =>
    send(app, {
      method: 'POST',
      url: '/api/environments/without-template',
      headers: { 'content-type': 'application/json' },
      payload,
    });
  for (const bytes of [Buffer.from(text, 'latin1'), Buffer.from(text.slice(0, -2) + '\u00c0"}', 'latin1')]) {
    const response = await post(bytes);
    assert.equal(response.statusCode, 400, response.body);
    assert.match(response.json<ErrorBody>().message, /^\/body is not valid UTF-8/);
  }
  assert.equal(await count('environment'), before);
  assert.equal((await post(Buffer.from(text, 'utf8'))).statusCode, 200);
  const ignored = {
    method: 'GET',
    url: `/api/environments/${environment.id}`,
    payload: Buffer.of(0xff),
  } as const;
  assert.equal((await send(app, ignored)).statusCode, 200);
});

test('a body above the limit is refused with 413', async () => {
  const response = await send(app, {
    method: 'POST',
    url: '/api/projects',
    payload: ' '.repeat(17 * 1024 * 1024),
  });
  assert.deepEqual([response.statusCode, response.json<ErrorBody>().code], [413, 'payload_too_large']);
});

test('query values that do not fit are refused by name', async () => {
  for (const query of [
    { limit: '0' },
    { limit: '-1' },
    { limit: '101' },
    { limit: '2.5' },
    { limit: 'x' },
    { limit: '' },
    { offset: '-1' },
    { offset: '1e30' },
    { onlyMy: 'yes' },
  ] as Record<string, string>[]) {
    const [name = ''] = Object.keys(query);
    assert.match(
      (await refused(app, 'listEnvironments', 400, { query })).message,
      new RegExp(`/query/${name} `),
      JSON.stringify(query),
    );
  }
  await refused(app, 'listDeployments', 400, /\/query\/statuses/, { params, query: { statuses: 'DONE' } });
  await refused(app, 'listDeployments', 400, /\/query\/fromDate/, {
    params,
    query: { fromDate: 'yesterday' },
  });
  const twice = await send(app, { url: '/api/environments?name=a&name=b' });
  assert.equal(twice.statusCode, 400, twice.body);
  await ok(app, 'listEnvironments', { query: { limit: '1', offset: '9007199254740991' } });
});

test('a body that is nested too deeply or has too many values is refused before it is parsed', async () => {
  const app = await testApp();
  const post = async (payload: string) => {
    const response = await send(app, { method: 'POST', url: '/api/environments/without-template', payload });
    return { status: response.statusCode, ...response.json<ErrorBody>() };
  };
  const deep = await post(`{"a": ${'['.repeat(1_000_000)}`);
  assert.deepEqual([deep.status, deep.message], [400, '/body is nested deeper than 64 levels']);
  const many = await post(`{"a": [${'[],'.repeat(2_000_000)}[]]}`);
  assert.deepEqual([many.status, many.message], [413, '/body has more than 100000 values']);
});

test('each operation and each message of an agent has a limit for its body', async () => {
  const app = await testApp();
  const agent = await testAgent(app);
  const filler = 'x'.repeat(2 * 1024 * 1024);
  for (const { method, path, bodyMegabytes } of [operations.createProject, operations.createGitToken]) {
    const url = `/api${path}`;
    assert.equal(bodyMegabytes, undefined);
    const response = await send(app, { method, url, payload: JSON.stringify({ name: filler }) });
    assert.deepEqual(
      [response.statusCode, response.json<ErrorBody>().message],
      [413, 'The body, decompressed, is larger than 1048576 bytes'],
    );
  }
  const place = { jobId: '1', attempt: 1, fence: 1 };
  for (const [name, bytes] of [
    ['register', 65_536],
    ['heartbeat', 65_536],
    ['claim', 65_536],
    ['goodbye', 65_536],
    ['mark', 65_536],
    ['report', 1_048_576],
  ] as const) {
    const response = await agent.send(name, place, { filler });
    assert.equal(response.statusCode, 413, name);
    assert.match(response.json<ErrorBody>().message, new RegExp(`larger than ${bytes} bytes`), name);
  }
  const finish = await agent.send('finish', place, { fence: 1, outcome: { filler } });
  assert.equal(finish.statusCode, 409, 'an outcome carries a whole plan');
});
