import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { testApp } from '../../../testing/app.ts';
import { ok } from '../../../testing/client.ts';
import { scimClient } from '../../../testing/scim.ts';
import { startTests } from '../../../testing/start.ts';

const { app } = await startTests();
const scim = await scimClient(app);
const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];
const people = [
  { userName: 'ada@one.example', externalId: 'E1', displayName: 'Ada', name: { familyName: 'Lovelace' } },
  { userName: 'ben@one.example', externalId: 'e1', displayName: 'Ben "B"', active: false },
  { userName: 'cy@two.example', emails: [{ value: 'cy@work.example', type: 'work', primary: true }] },
];
for (const person of people) assert.equal((await scim('POST', '/Users', { schemas, ...person })).status, 201);

const list = (query: Record<string, string>) =>
  scim('GET', `/Users?${new URLSearchParams(query).toString()}`);
const names = async (filter: string) => {
  const { status, body } = await list({ filter });
  assert.equal(status, 200, `${filter}: ${JSON.stringify(body)}`);
  return body.Resources.map(({ userName }: { userName: string }) => userName.split('@')[0]).join();
};

test('filters', async () => {
  for (const [filter, expected] of [
    ['userName eq "ADA@one.example"', 'ada'],
    ['USERNAME EQ "ada@one.example"', 'ada'],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "ada@one.example"', 'ada'],
    ['userName ne "ada@one.example"', 'ben,cy'],
    ['userName co "one"', 'ada,ben'],
    ['userName sw "c"', 'cy'],
    ['userName ew "two.example"', 'cy'],
    ['externalId eq "E1"', 'ada'],
    ['externalId pr', 'ada,ben'],
    ['displayName eq "ben \\"b\\""', 'ben'],
    ['active eq false', 'ben'],
    ['active eq "True"', 'ada,cy'],
    ['emails.value eq "cy@work.example"', 'cy'],
    ['emails co "work"', 'cy'],
    ['emails[type eq "work" and value ew ".example"]', 'cy'],
    ['emails[type eq "home"]', ''],
    ['name.familyName eq "lovelace"', 'ada'],
    ['not (active eq true)', 'ben'],
    ['userName co "one" and (active eq false or displayName eq "Ada")', 'ada,ben'],
    ['userName sw "a" or userName sw "b" and active eq true', 'ada'],
    ['userName eq "ada@one.example" and active eq false', ''],
    ['userName eq "ada@one.example" or active eq false', 'ada,ben'],
    ['meta.lastModified gt "2000-01-01T00:00:00Z"', 'ada,ben,cy'],
    ['meta.lastModified lt "2000-01-01T01:00:00+01:00"', ''],
    [`id eq "${randomUUID()}"`, ''],
  ] as const)
    assert.equal(await names(filter), expected, filter);
});

test('a filter that cannot be answered is refused, and says why', async () => {
  for (const filter of [
    'userName',
    'userName eq',
    'userName eq ada',
    'userName is "ada"',
    'password eq "x"',
    'userName eq "a" and',
    '(userName eq "a"',
    'userName eq "a")',
    'not userName eq "a"',
    'userName eq "a" userName eq "b"',
    'userName eq {"a":1}',
    'userName eq "a',
    'emails[type eq "work"',
    'meta.created gt "yesterday"',
    `${'('.repeat(30)}userName pr${')'.repeat(30)}`,
    `userName eq "${'x'.repeat(4000)}"`,
  ]) {
    const { status, body } = await list({ filter });
    assert.deepEqual([status, body.scimType], [400, 'invalidFilter'], filter);
    assert.match(body.detail, /^The filter is not supported: ./);
  }
});

test('pages and attributes', async () => {
  const page = async (query: Record<string, string>) => {
    const { body } = await list(query);
    const found = body.Resources.map(({ userName }: { userName: string }) => userName.split('@')[0]);
    return [body.totalResults, body.startIndex, body.itemsPerPage, found.join()];
  };
  assert.deepEqual(await page({ count: '2' }), [3, 1, 2, 'ada,ben']);
  assert.deepEqual(await page({ startIndex: '3', count: '2' }), [3, 3, 1, 'cy']);
  assert.deepEqual(await page({ startIndex: '-5', count: '1' }), [3, 1, 1, 'ada']);
  assert.deepEqual(await page({ count: '0' }), [3, 1, 0, '']);
  assert.deepEqual(await page({ count: '-1' }), [3, 1, 0, '']);
  assert.deepEqual(await page({ startIndex: '9' }), [3, 9, 0, '']);
  assert.equal((await list({ count: 'many' })).body.scimType, 'invalidValue');
  const only = await list({ attributes: 'USERNAME,emails.value', filter: 'emails pr' });
  assert.deepEqual(
    Object.entries(only.body.Resources[0]).filter(([name]) => name !== 'id'),
    [
      ['schemas', schemas],
      ['userName', 'cy@two.example'],
      ['emails', [{ value: 'cy@work.example' }]],
    ],
  );
  const without = await list({ excludedAttributes: 'id,meta,emails.type', filter: 'emails pr' });
  assert.deepEqual(Object.keys(without.body.Resources[0]).toSorted(), [
    'active',
    'emails',
    'id',
    'schemas',
    'userName',
  ]);
});

test('searches by POST answer like lists, and those of everything have people and groups', async () => {
  const group = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: 'Ada' };
  const { id } = (await scim('POST', '/Groups', group)).body;
  const search = (path: string, body: object) =>
    scim('POST', `${path}/.search`, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
      ...body,
    });
  const users = await search('/Users', {
    filter: 'userName co "one"',
    startIndex: 2,
    attributes: ['userName'],
  });
  assert.deepEqual([users.body.totalResults, users.body.Resources.length], [2, 1]);
  assert.deepEqual(Object.keys(users.body.Resources[0]).toSorted(), ['id', 'schemas', 'userName']);
  assert.equal((await search('/Groups', { filter: 'displayName eq "ada"' })).body.Resources[0].id, id);
  const both = await search('', { filter: 'displayName eq "ada"' });
  assert.deepEqual(
    both.body.Resources.map(({ meta }: { meta: { resourceType: string } }) => meta.resourceType),
    ['User', 'Group'],
  );
  assert.equal((await search('', { filter: 'userName eq "cy@two.example"' })).body.totalResults, 1);
  for (const body of [{ filter: 'x' }, { filter: 7 }, { count: 'many' }, { attributes: 'userName' }])
    assert.equal((await search('', body)).status, 400, JSON.stringify(body));
});

test('the service describes itself', async () => {
  const { body } = await scim('GET', '/ServiceProviderConfig');
  assert.deepEqual(
    [body.patch.supported, body.bulk.supported, body.filter.supported, body.etag.supported],
    [true, false, true, false],
  );
  for (const path of ['/ResourceTypes', '/Schemas']) {
    const listed = (await scim('GET', path)).body;
    assert.equal(listed.totalResults, 2);
    for (const each of listed.Resources) {
      const one = await scim('GET', `${path}/${each.id}`);
      assert.deepEqual(one.body, each);
      assert.ok(each.meta.location.endsWith(`/scim/v2${path}/${each.id}`));
    }
    assert.equal((await scim('GET', `${path}/None`)).status, 404);
    assert.equal((await scim('GET', `${path}?filter=id+pr`)).status, 403);
  }
});

test('every refusal below the base path has the form of SCIM', async () => {
  const send = async (method: 'GET' | 'POST' | 'PUT', path: string, more: object = {}) => {
    const response = await app.app.inject({
      method,
      url: `/scim/v2${path}`,
      headers: { authorization: `Bearer ${scim.token}` },
      ...more,
    });
    const body = response.json();
    assert.deepEqual(body.schemas, ['urn:ietf:params:scim:api:messages:2.0:Error']);
    assert.equal(body.status, String(response.statusCode));
    assert.equal(response.headers['content-type'], 'application/scim+json; charset=utf-8');
    return response;
  };
  assert.equal((await send('GET', '/Nothing')).statusCode, 404);
  assert.equal((await send('GET', '')).statusCode, 404);
  assert.equal((await send('GET', '/Users/%zz')).statusCode, 400);
  const put = await send('PUT', '/Users');
  assert.deepEqual([put.statusCode, put.headers.allow], [405, 'GET, HEAD, POST, OPTIONS']);
  assert.equal((await send('POST', '/Users')).statusCode, 400);
  assert.equal((await send('POST', '/Users', { payload: '{' })).json().scimType, 'invalidSyntax');
  const form = { authorization: `Bearer ${scim.token}`, 'content-type': 'application/x-www-form-urlencoded' };
  assert.equal((await send('POST', '/Users', { payload: 'a=b', headers: form })).statusCode, 415);
  assert.equal(
    (await send('POST', '/Users', { payload: `{"a":"${'x'.repeat(3_000_000)}"}` })).statusCode,
    413,
  );
});

test('only a token of the organization is accepted, until it is revoked', async () => {
  const [id = '', secret = ''] = scim.token.split('.');
  const basic = Buffer.from(`${app.admin.id}:${app.admin.secret}`).toString('base64');
  for (const authorization of [
    undefined,
    'Bearer',
    `Bearer ${id}`,
    `Bearer ${id}.${'A'.repeat(43)}`,
    `Bearer ${randomUUID()}.${secret}`,
    `Bearer ${secret}`,
    `Basic ${basic}`,
    `Bearer ${basic}`,
  ]) {
    const response = await app.app.inject({
      url: '/scim/v2/Users',
      headers: authorization === undefined ? {} : { authorization },
    });
    assert.deepEqual([response.statusCode, response.json().status], [401, '401'], authorization);
    assert.equal(response.headers['www-authenticate'], 'Bearer realm="envarium"');
  }
  const elsewhere = await app.app.inject({
    url: '/api/organizations',
    headers: { authorization: `Bearer ${scim.token}` },
  });
  assert.equal(elsewhere.statusCode, 401);
  const params = { id: app.organizationId };
  assert.ok((await ok(app, 'listScimTokens', { params }))[0]?.lastUsedAt);
  const next = await scimClient(app);
  await ok(app, 'deleteScimToken', { params: { ...params, tokenId: id } });
  assert.equal((await scim('GET', '/Users')).status, 401);
  assert.equal((await next('GET', '/Users')).status, 200);
});

test('wrong tokens are counted by address, and requests by token', async () => {
  const limited = await testApp({ ENVARIUM_RATE_LIMIT: '3', ENVARIUM_FAILURE_LIMIT: '2' });
  const params = { id: limited.organizationId };
  const tokens = [];
  for (let index = 0; index < 2; index++)
    tokens.push((await ok(limited, 'createScimToken', { params })).token);
  const status = async (token: string, remoteAddress: string) =>
    (
      await limited.app.inject({
        url: '/scim/v2/Users',
        remoteAddress,
        headers: { authorization: `Bearer ${token}` },
      })
    ).statusCode;
  const statuses = [];
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'])
    statuses.push(await status(tokens[0] ?? '', address));
  assert.deepEqual(statuses, [200, 200, 200, 429]);
  assert.equal(await status(tokens[1] ?? '', '192.0.2.1'), 200);
  const wrong = [];
  for (let index = 0; index < 3; index++) wrong.push(await status(`${randomUUID()}.x`, '192.0.2.9'));
  assert.deepEqual(wrong, [401, 401, 429]);
});
