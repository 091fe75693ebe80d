import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type OperationName, operations } from '#contract/operations.ts';
import type { Operation } from '#contract/schema/operation.ts';
import { hasTag, readerOf } from '#contract/schema/reader-of.ts';
import { call } from '../../../../testing/client.ts';
import { makeSamples } from '../../../../testing/samples.ts';
import { startTests } from '../../../../testing/start.ts';
import { families } from '../../../families.ts';
import { subjectsOf } from '../../access/check-right.ts';
import { buildApp } from '../app.ts';

type Named = Operation & { name: OperationName };

const { app, ok, refused, add, createIdle } = await startTests();
const all = Object.values(operations) as Named[];
const changes = all.flatMap((change) => {
  const reader = readerOf(change) as Named | undefined;
  return reader ? [{ change, reader }] : [];
});

const tagOf = async (name: OperationName, params: Record<string, string>) => {
  const response = await call(app, name, { params });
  assert.equal(response.statusCode, 200, response.body);
  return String(response.headers.etag);
};
const project = await add('Project', 'versions');
const params = { id: project.id };
const update = (header: string, name: string) =>
  call(app, 'updateProject', { params, body: { name }, headers: { 'if-match': header } });

test('an update of the version that was read is carried out, one of an older version is refused with 412', async () => {
  const tag = await tagOf('getProject', params);
  assert.equal((await update(tag, 'second')).statusCode, 200);
  const { code, message } = await refused('updateProject', 412, {
    params,
    body: { name: 'third' },
    headers: { 'if-match': tag },
  });
  assert.equal(code, 'precondition_failed');
  assert.match(message, /If-Match.*read it again/);
  assert.equal((await ok('getProject', { params })).name, 'second');
  assert.equal((await update(await tagOf('getProject', params), 'third')).statusCode, 200);
});

test('weak tags match nothing, * matches whatever is there, a list matches if one of its tags does', async () => {
  const tag = await tagOf('getProject', params);
  for (const [header, status] of [
    [`W/${tag}`, 412],
    ['"unknown"', 412],
    ['unknown', 400],
    ['', 400],
    [`"unknown", ${tag}`, 200],
    ['*', 200],
  ] as const)
    assert.equal((await update(header, 'third')).statusCode, status, header);
  await refused('updateProject', 404, { id: app.context.newId(), body: {}, headers: { 'if-match': '*' } });
});

test('of many updates of one version on two servers, one is carried out', async () => {
  await using other = await buildApp({ ...app.context }, families);
  for (let round = 0; round < 5; round++) {
    const tag = await tagOf('getProject', params);
    const servers = [app, { ...app, app: other }];
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        call(servers[index % 2] ?? app, 'updateProject', {
          params,
          body: { description: `${round} ${index}` },
          headers: { 'if-match': tag },
        }),
      ),
    );
    const statuses = replies.map(({ statusCode }) => statusCode).sort();
    assert.deepEqual(statuses, [200, ...Array.from({ length: 9 }, () => 412)]);
    const winner = replies.find(({ statusCode }) => statusCode === 200)?.json<{ description: string }>();
    assert.equal((await ok('getProject', { params })).description, winner?.description);
  }
});

test('an update without a condition is not overlooked by one that has it', async () => {
  const environment = await createIdle();
  const id = { id: environment.id };
  for (let round = 0; round < 8; round++) {
    const tag = await tagOf('getEnvironment', id);
    const [conditional, plain] = await Promise.all([
      call(app, 'updateEnvironment', {
        params: id,
        body: { name: `conditional ${round}`, description: 'conditional' },
        headers: { 'if-match': tag },
      }),
      call(app, 'updateEnvironment', { params: id, body: { name: `plain ${round}` } }),
    ]);
    assert.equal(plain.statusCode, 200);
    const { name } = await ok('getEnvironment', { params: id });
    // Either the condition was checked before the other update, which then came last, or it was refused.
    assert.equal(name, `plain ${round}`);
    assert.ok([200, 412].includes(conditional.statusCode));
  }
});

test('what belongs to a resource counts as its change: a lock, a move, a schedule of its own path', async () => {
  const environment = await createIdle();
  const id = { id: environment.id };
  const tag = await tagOf('getEnvironment', id);
  await ok('setEnvironmentLock', { params: id, body: { isLocked: true }, headers: { 'if-match': tag } });
  await refused('moveEnvironment', 412, {
    params: id,
    body: { projectId: project.id },
    headers: { 'if-match': tag },
  });
  const schedule = await tagOf('getEnvironmentSchedule', id);
  const body = { deploy: { cron: '0 5 * * *', enabled: true } };
  await ok('updateEnvironmentSchedule', { params: id, body, headers: { 'if-match': schedule } });
  await refused('updateEnvironmentSchedule', 412, { params: id, body, headers: { 'if-match': schedule } });
});

test('a repeated update under its key gets its answer, although the version has changed', async () => {
  const headers = { 'if-match': await tagOf('getProject', params), 'idempotency-key': 'conditional' };
  const input = { params, body: { name: 'once' }, headers };
  const [first, again] = [await call(app, 'updateProject', input), await call(app, 'updateProject', input)];
  assert.deepEqual([first.statusCode, again.statusCode, again.body], [200, 200, first.body]);
  const refusedOnce = { ...input, headers: { ...headers, 'idempotency-key': 'another' } };
  await refused('updateProject', 412, refusedOnce);
  const fresh = { 'if-match': await tagOf('getProject', params), 'idempotency-key': 'another' };
  await ok('updateProject', { ...input, headers: fresh });
});

test('If-Match is refused where nothing can be compared, and compared when something is read', async () => {
  const body = { organizationId: app.organizationId, name: 'new' };
  const { message } = await refused('createProject', 400, { body, headers: { 'if-match': '*' } });
  assert.match(message, /If-Match has no meaning for createProject/);
  await refused('getProject', 412, { params, headers: { 'if-match': '"old"' } });
  const tag = await tagOf('getProject', params);
  await ok('getProject', { params, headers: { 'if-match': tag } });
});

test('callers who may not read an object learn nothing of its version', async () => {
  const outsider = await app.addKey();
  for (const header of ['*', await tagOf('getProject', params)])
    await refused('updateProject', 404, { params, body: {}, headers: { 'if-match': header }, as: outsider });
});

test('a change that names in its body what the read names in its query is compared', async () => {
  const query = { projectId: project.id };
  const { headers } = await call(app, 'getPolicy', { query });
  const change = (header: string, more: object = {}) =>
    call(app, 'updatePolicy', { body: { ...query, ...more }, headers: { 'if-match': header } });
  assert.equal((await change(String(headers.etag), { maxTtl: '1-w' })).statusCode, 200);
  assert.equal((await change(String(headers.etag), { maxTtl: '1-d' })).statusCode, 412);
  assert.equal((await ok('getPolicy', { query })).maxTtl, '1-w');
});

test('a change that names in its body what the read names in its path is compared', async () => {
  const record = { name: 'compared', repository: 'https://git.example.com/policy.git' };
  const { id } = await ok('createApprovalPolicy', {
    body: { ...record, organizationId: app.organizationId },
  });
  const header = await tagOf('getTemplate', { id });
  const change = (path: string) =>
    call(app, 'updateApprovalPolicy', { body: { ...record, id, path }, headers: { 'if-match': header } });
  assert.equal((await change('first')).statusCode, 200);
  assert.equal((await change('second')).statusCode, 412);
  assert.equal((await ok('getTemplate', { id })).path, 'first');
});

test('every family locks what can be changed under a condition', () => {
  const locked = new Set(families.flatMap(({ locks = {} }) => Object.keys(locks)));
  const missing = changes
    .flatMap(({ reader }) => subjectsOf(reader).filter((subject) => subject.in !== 'body'))
    .map(({ entity }) => entity)
    .filter((entity) => !locked.has(entity));
  assert.deepEqual([...new Set(missing)], [], 'add them to `locks` in family.ts');
});

test('every change of something that can be read alone checks the version, and the version stays the same', async () => {
  const environment = await createIdle({ name: 'all' });
  const { requestOf } = await makeSamples(app, environment);
  for (const { change, reader } of changes) {
    const { params = {} } = requestOf(reader);
    const first = await call(app, reader.name, { params });
    if (first.statusCode !== 200) continue;
    app.advance(90);
    const second = await call(app, reader.name, { params });
    assert.equal(second.headers.etag, first.headers.etag, `${reader.name} differs when it is read again`);
    const sample = requestOf(change);
    const request = { ...sample, params: { ...sample.params, ...params } };
    await refused(change.name, 412, { ...request, headers: { 'if-match': '"old"' } });
    const unchanged = await call(app, reader.name, { params });
    assert.equal(unchanged.headers.etag, first.headers.etag, change.name);
    const matching = await call(app, change.name, { ...request, headers: { 'if-match': '*' } });
    assert.notEqual(matching.statusCode, 412, change.name);
  }
});

test('reads of single resources have a tag', async () => {
  assert.ok(changes.every(({ reader }) => hasTag(reader)));
  assert.ok(changes.length >= 20, String(changes.length));
});
