import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorBody } from '#contract/schema/errors.ts';
import type { CliSession, CurrentUser, Session } from '#contract/sign-in/shapes.ts';
import { testApp } from '../../../testing/app.ts';
import { basic } from '../../../testing/client.ts';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { addPerson, goodPassword, TestBrowser } from '../../../testing/person.ts';
import { startTests } from '../../../testing/start.ts';

const { app, organizationId, ok, refused, sql } = await startTests();
const ada = await addPerson(app, 'Ada@example.com', { [organizationId]: 'Admin' });
await addPerson(app, 'bob@example.com');

test('a person signs in with an e-mail in any spelling, and is who the session says', async () => {
  const browser = new TestBrowser(app);
  const response = await browser.send('POST', '/api/auth/sign-in', {
    email: 'ADA@EXAMPLE.COM',
    password: goodPassword,
  });
  assert.equal(response.statusCode, 200, response.body);
  const [cookie] = response.cookies;
  assert.deepEqual(
    [cookie?.name, cookie?.httpOnly, cookie?.sameSite, cookie?.path, cookie?.secure],
    ['envarium-session', true, 'Lax', '/', undefined],
  );
  assert.equal(response.headers['cache-control'], 'no-store');
  assert.ok(!response.body.includes(String(cookie?.value.split('.')[1])), 'a page cannot read the secret');
  const me = (await browser.send('GET', '/api/users/me')).json<CurrentUser>();
  assert.deepEqual(
    [me.user.user_id, me.identifiedBy, me.hasPassword, me.organizations],
    [ada, 'session', true, [{ id: organizationId, name: 'Envarium', role: 'Admin' }]],
  );
  assert.ok(me.user.last_login);
  assert.equal(me.session?.csrfToken, response.json<{ csrfToken: string }>().csrfToken);
});

test('a key is a user without a session', async () => {
  const me = await ok('getCurrentUser');
  assert.deepEqual([me.user.user_id, me.identifiedBy, me.session], ['admin', 'key', undefined]);
  assert.deepEqual(await ok('listSessions'), []);
  await refused('signOut', 400, /API key/);
});

test('behind TLS a cookie is Secure, and bound to the host by its name', async () => {
  const behind = await testApp({ ENVARIUM_BASE_URL: 'https://envarium.example' });
  await addPerson(behind, 'ada@example.com');
  const browser = new TestBrowser(behind);
  await browser.signIn('ada@example.com');
  const [[name, value] = []] = browser.cookies;
  assert.equal(name, '__Host-envarium-session');
  assert.equal((await browser.send('GET', '/api/users/me')).statusCode, 200);
  const planted = await behind.app.inject({
    url: '/api/users/me',
    headers: { cookie: `envarium-session=${value}` },
  });
  assert.equal(planted.statusCode, 401);
});

test('a change needs the token of its own session; a form from elsewhere is refused', async () => {
  const [browser, other] = [new TestBrowser(app), new TestBrowser(app)];
  await browser.signIn('ada@example.com');
  const { csrfToken: foreign } = await other.signIn('bob@example.com');
  const own = browser.csrfToken ?? '';
  const attempts: [string | undefined, Record<string, string>, number][] = [
    [undefined, {}, 403],
    ['', {}, 403],
    [foreign, {}, 403],
    [`${own}x`, {}, 403],
    [own, { origin: 'https://evil.example' }, 403],
    [own, { 'sec-fetch-site': 'cross-site', 'content-type': 'application/x-www-form-urlencoded' }, 403],
    [own, {}, 200],
  ];
  for (const [token, headers, status] of attempts) {
    browser.csrfToken = token;
    const response = await browser.send('PUT', '/api/users/me', { name: 'Ada L' }, { headers });
    assert.equal(response.statusCode, status, `${token} ${JSON.stringify(headers)}: ${response.body}`);
  }
  browser.csrfToken = undefined;
  const refusal = await browser.send('POST', '/api/auth/sign-out');
  assert.match(refusal.json<ErrorBody>().message, /x-csrf-token/);
  assert.equal((await browser.send('GET', '/api/users/me')).json<CurrentUser>().user.name, 'Ada L');
});

test('a session replayed after sign-out is a 401, without a window of the browser', async () => {
  const browser = new TestBrowser(app);
  const { sessionId } = await browser.signIn('ada@example.com');
  const cookies = new Map(browser.cookies);
  const response = await browser.send('POST', '/api/auth/sign-out');
  assert.deepEqual([response.statusCode, response.json()], [200, { id: sessionId }]);
  assert.equal(browser.cookies.size, 0, 'the cookie is removed');
  for (const [name, value] of cookies) browser.cookies.set(name, value);
  for (const [method, url] of [
    ['GET', '/api/users/me'],
    ['POST', '/api/auth/sign-out'],
  ] as const) {
    const replayed = await browser.send(method, url);
    assert.equal(replayed.statusCode, 401);
    assert.equal(replayed.headers['www-authenticate'], undefined);
  }
});

test('a cookie with another secret, of nothing, or of nonsense is a 401', async () => {
  const browser = new TestBrowser(app);
  const { sessionId } = await browser.signIn('ada@example.com');
  for (const value of [`${sessionId}.x`, `${sessionId}.`, sessionId, `${ada}.x`, 'x.y.z', '', '%00.x'])
    assert.equal(
      (await app.app.inject({ url: '/api/users/me', headers: { cookie: `envarium-session=${value}` } }))
        .statusCode,
      401,
      value,
    );
});

test('sessions are listed to their user, and end one by one', async () => {
  const user = await addPerson(app, 'cleo@example.com');
  const [first, second] = [
    new TestBrowser(app),
    new TestBrowser(app, { 'user-agent': `x${'y'.repeat(600)}` }),
  ];
  const { sessionId: firstId } = await first.signIn('cleo@example.com');
  const { sessionId: secondId } = await second.signIn('cleo@example.com');
  const listed = (await second.send('GET', '/api/users/me/sessions')).json<Session[]>();
  assert.deepEqual(fieldsOf(listed, 'id', 'isCurrent', 'kind', 'way', 'address'), [
    [secondId, true, 'browser', 'password', '127.0.0.1'],
    [firstId, false, 'browser', 'password', '127.0.0.1'],
  ]);
  assert.deepEqual(
    listed.map(({ userAgent }) => userAgent.length),
    [500, 'Mozilla/5.0 (test)'.length],
  );
  const otherBrowser = new TestBrowser(app);
  await otherBrowser.signIn('bob@example.com');
  for (const id of [firstId, 'no-uuid'])
    assert.equal((await otherBrowser.send('DELETE', `/api/users/me/sessions/${id}`)).statusCode, 404);
  const ended = await second.send('DELETE', `/api/users/me/sessions/${firstId}`);
  assert.deepEqual(ended.json(), { id: firstId });
  assert.equal((await first.send('GET', '/api/users/me')).statusCode, 401);
  assert.equal((await second.send('GET', '/api/users/me')).statusCode, 200);
  const rows = await sql<{ action: string; actor_id: string }>(
    "select action, actor_id from audit_event where entity = 'session' and actor_id = $1 order by number",
    user,
  );
  assert.deepEqual(fieldOf(rows, 'action'), ['session.created', 'session.created', 'session.ended']);
});

test('a session ends when it is not used, and after its time however much it is used', async () => {
  const short = await testApp({ ENVARIUM_SESSION_IDLE_MINUTES: '10', ENVARIUM_SESSION_HOURS: '1' });
  await addPerson(short, 'ada@example.com');
  const [busy, idle] = [new TestBrowser(short), new TestBrowser(short)];
  await busy.signIn('ada@example.com');
  await idle.signIn('ada@example.com');
  for (let minute = 0; minute < 56; minute += 8) {
    assert.equal((await busy.send('GET', '/api/users/me')).statusCode, 200, `${minute}`);
    short.advance(8 * 60);
  }
  assert.equal((await idle.send('GET', '/api/users/me')).statusCode, 401);
  short.advance(5 * 60);
  assert.equal((await busy.send('GET', '/api/users/me')).statusCode, 401);
});

test('only hashes of the secrets of sessions are stored', async () => {
  const browser = new TestBrowser(app);
  await browser.signIn('ada@example.com');
  const [[, value = ''] = []] = browser.cookies;
  const secret = value.split('.')[1] ?? '';
  assert.equal(Buffer.from(secret, 'base64url').length, 32);
  const rows = await sql<{ text: string }>('select s::text as text from session s');
  const stored = rows.map(({ text }) => text).join('\n');
  for (const form of [
    secret,
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret, 'base64url').toString('hex'),
  ])
    assert.ok(!stored.includes(form));
});

test('the command line signs in with a session that it sends as credentials', async () => {
  const body = { email: 'ada@example.com', password: goodPassword };
  const session: CliSession = await ok('signInCli', { body, as: null });
  const as = { id: session.apiKeyId, secret: session.apiKeySecret };
  const me = await ok('getCurrentUser', { as });
  assert.deepEqual([me.user.user_id, me.session?.kind], [ada, 'cli']);
  await ok('updateCurrentUser', { as, body: { name: 'Ada' } });
  const asCookie = `envarium-session=${me.session?.id}.${session.apiKeySecret}`;
  assert.equal(
    (await app.app.inject({ url: '/api/users/me', headers: { cookie: asCookie } })).statusCode,
    401,
    'it is not a session of a browser',
  );
  const browser = new TestBrowser(app);
  const { sessionId } = await browser.signIn('ada@example.com');
  const [[, value = ''] = []] = browser.cookies;
  const authorization = basic({ id: `session-${sessionId}`, secret: value.split('.')[1] ?? '' });
  assert.equal(
    (await app.app.inject({ url: '/api/users/me', headers: { authorization } })).statusCode,
    401,
    'and the other way round',
  );
  await ok('signOut', { as });
  await refused('getCurrentUser', 401, { as });
});
