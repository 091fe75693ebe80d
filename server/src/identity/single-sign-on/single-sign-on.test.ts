import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { ErrorBody } from '#contract/schema/errors.ts';
import type { CliSession, CurrentUser, Session } from '#contract/sign-in/shapes.ts';
import { type TestApp, testApp } from '../../../testing/app.ts';
import { ok } from '../../../testing/client.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { type Claims, IdentityProvider, payloadOf, signToken } from '../../../testing/identity-provider.ts';
import { addPerson, goodPassword, TestBrowser } from '../../../testing/person.ts';
import { startTests } from '../../../testing/start.ts';

const base = 'http://envarium.example';
const provider = await IdentityProvider.start(`${base}/api/auth/oidc/callback`);
const settings = {
  ENVARIUM_BASE_URL: base,
  ENVARIUM_OIDC_ISSUER: provider.issuer,
  ENVARIUM_OIDC_CLIENT_ID: provider.clientId,
  ENVARIUM_OIDC_CLIENT_SECRET: provider.clientSecret,
  ENVARIUM_OIDC_SCOPES: 'openid email profile groups',
  ENVARIUM_OIDC_NAME: 'Company account',
  ENVARIUM_OIDC_RULES: JSON.stringify([
    { value: 'admins', organization: 'Envarium', role: 'Admin' },
    { value: 'builders', organization: 'Envarium', team: 'Builders' },
    { value: 'ghosts', organization: 'Nowhere' },
  ]),
};
const { app, organizationId, refused, sql } = await startTests(settings);

let people = 0;
/** An account at the provider. */
function account(claims: Claims = {}): { id: string; email: string } {
  const id = `person${++people}`;
  const email = `${id}@example.com`;
  provider.accounts.set(id, { email, email_verified: true, name: `Person ${people}`, ...claims });
  return { id, email };
}

const locationOf = (response: { headers: Record<string, unknown> }) => String(response.headers['location']);

/** The browser at the provider, signed in, about to return. */
async function visit(browser: TestBrowser, id: string, query = ''): Promise<URL> {
  const started = await browser.send('GET', `/api/auth/oidc/start${query}`);
  assert.equal(started.statusCode, 302, started.body);
  return provider.visit(locationOf(started), id);
}

async function signIn(browser: TestBrowser, id: string, query = '') {
  const arrived = await visit(browser, id, query);
  assert.equal(arrived.origin, base);
  return browser.send('GET', arrived.pathname + arrived.search);
}

async function refusal(response: { statusCode: number; json: () => unknown }): Promise<string> {
  assert.equal(response.statusCode, 403);
  return (response.json() as ErrorBody).message;
}

async function me(browser: TestBrowser): Promise<CurrentUser> {
  const response = await browser.send('GET', '/api/users/me');
  assert.equal(response.statusCode, 200, response.body);
  return response.json<CurrentUser>();
}

test('the provider is listed with its name, and not where none is configured', async () => {
  const { providers } = await ok(app, 'listSignInMethods', { as: null });
  assert.deepEqual(providers, [{ id: 'oidc', name: 'Company account', path: '/api/auth/oidc/start' }]);
  const without = await testApp();
  assert.deepEqual((await ok(without, 'listSignInMethods', { as: null })).providers, []);
  const response = await without.app.inject({ url: '/api/auth/oidc/start' });
  assert.equal(response.statusCode, 404);
  assert.match(response.json<ErrorBody>().message, /ENVARIUM_OIDC_ISSUER/);
});

test('the browser is sent with PKCE, state and nonce, and returns with a session', async () => {
  const { id, email } = account({ groups: ['admins'] });
  const browser = new TestBrowser(app);
  const started = await browser.send('GET', '/api/auth/oidc/start?returnTo=/projects?x=1');
  const sent = new URL(locationOf(started)).searchParams;
  assert.equal(sent.get('code_challenge_method'), 'S256');
  assert.equal(sent.get('redirect_uri'), `${base}/api/auth/oidc/callback`);
  for (const name of ['state', 'nonce', 'code_challenge'])
    assert.ok((sent.get(name) ?? '').length >= 43, name);
  const arrived = await provider.visit(locationOf(started), id);
  const response = await browser.send('GET', arrived.pathname + arrived.search);
  assert.deepEqual([response.statusCode, locationOf(response)], [302, '/projects?x=1'], response.body);
  const { user, organizations, identifiedBy, hasPassword } = await me(browser);
  assert.deepEqual(
    [user.email, user.name, identifiedBy, hasPassword, fieldOf(organizations, 'role')],
    [email, `Person ${people}`, 'session', false, ['Admin']],
  );
  const [session] = (await browser.send('GET', '/api/users/me/sessions')).json<Session[]>();
  assert.deepEqual([session?.way, session?.isCurrent], ['oidc', true]);
  assert.deepEqual([...browser.cookies.keys()], ['envarium-session'], 'the cookie of the sign-in is removed');
});

test('a return that is replayed, unknown, too late or of another browser is refused', async () => {
  const { id } = account({ groups: ['admins'] });
  const browser = new TestBrowser(app);
  const arrived = await visit(browser, id);
  const cookies = new Map(browser.cookies);
  const otherBrowser = new TestBrowser(app);
  await otherBrowser.send('GET', '/api/auth/oidc/start');
  const path = arrived.pathname + arrived.search;
  assert.match(await refusal(await otherBrowser.send('GET', path)), /another browser/);
  const again = await visit(browser, id);
  const good = again.pathname + again.search;
  assert.equal((await browser.send('GET', good)).statusCode, 302);
  for (const [name, value] of cookies) browser.cookies.set(name, value);
  assert.match(await refusal(await browser.send('GET', good)), /used already/);
  for (const query of ['', '?state=', '?state=x&code=y', '?code=y'])
    assert.match(await refusal(await browser.send('GET', `/api/auth/oidc/callback${query}`)), /used already/);
  const late = await testApp(settings);
  const slow = new TestBrowser(late);
  const { pathname, search } = await visit(slow, id);
  late.advance(601);
  assert.match(await refusal(await slow.send('GET', pathname + search)), /expired/);
});

test('tokens of another issuer, audience, nonce, time or key are refused', async () => {
  const { id } = account({ groups: ['admins'] });
  const foreign = await IdentityProvider.start(`${base}/api/auth/oidc/callback`);
  const changed = (changes: object) => (token: string) =>
    signToken(provider.key, { ...payloadOf(token), ...changes });
  const now = () => Math.floor(Date.now() / 1000);
  const forgeries: Record<string, (token: string) => string> = {
    'another issuer': changed({ iss: foreign.issuer }),
    'another audience': changed({ aud: 'another-client' }),
    'several audiences without an authorized party': changed({ aud: ['another-client', provider.clientId] }),
    'another nonce': changed({ nonce: 'replayed' }),
    'no nonce': changed({ nonce: undefined }),
    expired: changed({ exp: now() - 300, iat: now() - 600 }),
    'not yet valid': changed({ nbf: now() + 300 }),
    'another key': (token) => signToken(foreign.key, payloadOf(token)),
    'another key under the same id': (token) =>
      signToken({ ...foreign.key, kid: provider.key.kid }, payloadOf(token)),
    'no signature': (token) =>
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${token.split('.')[1]}.`,
    'no token at all': () => 'x',
  };
  try {
    for (const [what, tamper] of Object.entries(forgeries)) {
      provider.tamper = tamper;
      const browser = new TestBrowser(app);
      const response = await signIn(browser, id);
      assert.match(await refusal(response), /did not confirm/, what);
      assert.equal(browser.cookies.has('envarium-session'), false, what);
    }
    provider.tamper = changed({ exp: now() - 10, nbf: now() + 10, iat: now() + 10 });
    assert.equal((await signIn(new TestBrowser(app), id)).statusCode, 302, 'clocks may differ by seconds');
  } finally {
    provider.tamper = undefined;
  }
});

test('a key that the provider replaces is used at once, also in the middle of a sign-in', async () => {
  const { id } = account({ groups: ['admins'] });
  assert.equal((await signIn(new TestBrowser(app), id)).statusCode, 302);
  const old = provider.key;
  provider.rotate();
  assert.equal((await signIn(new TestBrowser(app), id)).statusCode, 302);
  provider.tamper = (token) => signToken(old, payloadOf(token));
  try {
    assert.match(await refusal(await signIn(new TestBrowser(app), id)), /did not confirm/);
  } finally {
    provider.tamper = undefined;
  }
});

test('no one signs in without a verified e-mail, an invitation or a rule', async () => {
  const cases: [Claims, RegExp][] = [
    [{ groups: ['admins'], email_verified: false }, /email_verified/],
    [{ groups: ['admins'], email: 'no address' }, /email_verified/],
    [{}, /No one has invited/],
    [{ groups: ['others', 'ghosts'] }, /No one has invited/],
    [{ groups: 'adminsx' }, /No one has invited/],
  ];
  for (const [claims, reason] of cases)
    assert.match(
      await refusal(await signIn(new TestBrowser(app), account(claims).id)),
      reason,
      String(reason),
    );
  const { id } = account({ groups: ['admins'] });
  const browser = new TestBrowser(app);
  await signIn(browser, id);
  const userId = (await me(browser)).user.user_id ?? '';
  await sql('update app_user set is_blocked = true where id = $1', userId);
  assert.equal((await browser.send('GET', '/api/users/me')).statusCode, 401);
  assert.match(await refusal(await signIn(new TestBrowser(app), id)), /cannot sign in/);
});

test('an invitation is accepted by a sign-in with the same verified e-mail', async () => {
  const { id, email } = account();
  const invitation = await ok(app, 'createInvitation', {
    body: { email: email.toUpperCase(), organizationId },
  });
  const browser = new TestBrowser(app);
  assert.equal((await signIn(browser, id)).statusCode, 302);
  const { user, organizations } = await me(browser);
  assert.deepEqual([user.user_id, organizations.map(({ role }) => role)], [invitation.userId, ['User']]);
  const token = invitation.link?.split('#')[1];
  const body = { token, name: 'Somebody else', password: goodPassword };
  await refused('acceptInvitation', 410, { as: null, body });
  const late = account();
  await ok(app, 'createInvitation', { body: { email: late.email, organizationId } });
  app.advance(8 * 86_400);
  const lateBrowser = new TestBrowser(app);
  await signIn(lateBrowser, late.id);
  assert.deepEqual((await me(lateBrowser)).organizations, [], 'an expired invitation is not accepted');
});

test('the owner of an e-mail takes over an account that another person opened with it', async () => {
  const { id, email } = account();
  const userId = await addPerson(app, email);
  const squatter = new TestBrowser(app);
  await squatter.signIn(email);
  const made = await squatter.send('POST', '/api/personal-api-keys', { name: 'planted' });
  const { apiKeyId, apiKeySecret } = made.json<{ apiKeyId: string; apiKeySecret: string }>();
  const planted = { id: apiKeyId, secret: apiKeySecret };
  await ok(app, 'listOrganizations', { as: planted });
  const owner = new TestBrowser(app);
  assert.equal((await signIn(owner, id)).statusCode, 302);
  const { user, session } = await me(owner);
  assert.equal(user.user_id, userId);
  owner.csrfToken = session?.csrfToken;
  assert.equal((await squatter.send('GET', '/api/users/me')).statusCode, 401);
  await refused('signIn', 401, { as: null, body: { email, password: goodPassword } });
  await refused('listOrganizations', 401, { as: planted });
  assert.equal(
    (await owner.send('PUT', '/api/users/me/password', { currentPassword: 'x', newPassword: goodPassword }))
      .statusCode,
    409,
  );
});

test('each sign-in with the e-mail of the account verifies it', async () => {
  const { id } = account({ groups: ['admins'] });
  const browser = new TestBrowser(app);
  await signIn(browser, id);
  const userId = (await me(browser)).user.user_id ?? '';
  await sql('update app_user set is_email_verified = false where id = $1', userId);
  await signIn(browser, id);
  const rows = await sql('select is_email_verified from app_user where id = $1', userId);
  assert.deepEqual(rows, [{ is_email_verified: true }]);
});

async function teamsOf(userId: string): Promise<string[]> {
  const rows = await sql<{ name: string }>(
    'select t.name from team t join team_member m on m.team_id = t.id where m.user_id = $1 order by t.name',
    userId,
  );
  return rows.map(({ name }) => name);
}

async function addTeam(name: string): Promise<string> {
  const id = app.context.newId();
  const row = { id, organization_id: organizationId, name, created_by: 'admin' };
  await app.context.db.insertInto('team').values(row).execute();
  return id;
}

test('memberships and teams follow the claim at each sign-in, and only those that came from it', async () => {
  await addTeam('Builders');
  const byHand = await addTeam('By hand');
  const { id } = account({ groups: ['builders'] });
  const claim = (groups: readonly string[]) =>
    provider.accounts.set(id, { ...provider.accounts.get(id), groups });
  const browser = new TestBrowser(app);
  await signIn(browser, id);
  const { user, organizations } = await me(browser);
  const userId = user.user_id ?? '';
  assert.deepEqual(fieldOf(organizations, 'role'), ['User']);
  assert.deepEqual(await teamsOf(userId), ['Builders']);
  await app.context.db.insertInto('team_member').values({ team_id: byHand, user_id: userId }).execute();
  claim(['admins']);
  await signIn(browser, id);
  assert.deepEqual(fieldOf((await me(browser)).organizations, 'role'), ['Admin']);
  assert.deepEqual(await teamsOf(userId), ['By hand']);
  claim([]);
  await signIn(browser, id);
  assert.deepEqual((await me(browser)).organizations, []);
  const rows = await sql<{ action: string }>(
    "select action from audit_event where entity = 'user' and entity_id = $1 order by number",
    userId,
  );
  assert.deepEqual(fieldOf(rows, 'action'), [
    'identity.linked',
    'user.added',
    'user.roleChanged',
    'user.removed',
  ]);
  const member = account({ groups: ['admins'] });
  const memberId = await addPerson(app, member.email, { [organizationId]: 'User' });
  await signIn(new TestBrowser(app), member.id);
  provider.accounts.set(member.id, { ...provider.accounts.get(member.id), groups: [] });
  await signIn(new TestBrowser(app), member.id);
  const kept = await sql<{ role: string }>(
    'select role from organization_member where user_id = $1',
    memberId,
  );
  assert.deepEqual(kept, [{ role: 'User' }], 'what a person decided is left alone');
});

test('a claim does not remove the last administrator', async () => {
  const alone = await testApp(settings);
  const { id } = account({ groups: ['admins'] });
  const browser = new TestBrowser(alone);
  await signIn(browser, id);
  await alone.database.pool.query("delete from organization_member where user_id = 'admin'");
  provider.accounts.set(id, { ...provider.accounts.get(id), groups: [] });
  assert.equal((await signIn(browser, id)).statusCode, 302);
  assert.deepEqual(fieldOf((await me(browser)).organizations, 'role'), ['Admin']);
});

test('no one is led to another site after a sign-in', async () => {
  const browser = new TestBrowser(app);
  for (const path of [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    'projects',
    '/\t/evil.example',
    'javascript:x',
  ]) {
    const response = await browser.send('GET', `/api/auth/oidc/start?returnTo=${encodeURIComponent(path)}`);
    assert.equal(response.statusCode, 400, path);
    assert.match(response.json<ErrorBody>().message, /\/query\/returnTo/);
  }
});

function cliRequest(redirectUri = 'http://127.0.0.1:7777/callback') {
  const codeVerifier = randomBytes(32).toString('base64url');
  const codeChallenge = hash('sha256', codeVerifier, 'base64url');
  return { codeVerifier, redirectUri, codeChallenge, state: 'of-the-cli' };
}

function startCli(browser: TestBrowser, { codeVerifier: _, ...query }: ReturnType<typeof cliRequest>) {
  return browser.send('GET', `/api/auth/cli/start?${new URLSearchParams(query).toString()}`);
}

const exchange = (on: TestApp, body: object) => ok(on, 'exchangeCliCode', { as: null, body });

test('the command line signs in through the browser, with a code that is used once', async () => {
  const { id } = account({ groups: ['admins'] });
  const request = cliRequest();
  const { codeVerifier, redirectUri } = request;
  const browser = new TestBrowser(app);
  const started = await startCli(browser, request);
  assert.equal(new URL(locationOf(started)).searchParams.get('prompt'), 'login');
  const arrived = await provider.visit(locationOf(started), id);
  const handed = new URL(locationOf(await browser.send('GET', arrived.pathname + arrived.search)));
  assert.deepEqual(
    [handed.origin + handed.pathname, handed.searchParams.get('state')],
    [redirectUri, 'of-the-cli'],
  );
  assert.equal(browser.cookies.has('envarium-session'), false);
  const code = handed.searchParams.get('code') ?? '';
  const session: CliSession = await exchange(app, { code, codeVerifier, redirectUri });
  const as = { id: session.apiKeyId, secret: session.apiKeySecret };
  assert.equal((await ok(app, 'getCurrentUser', { as })).session?.kind, 'cli');
  await refused('exchangeCliCode', 403, { as: null, body: { code, codeVerifier, redirectUri } });
});

test('a code is nothing without its verifier, its address and its minute', async () => {
  const browser = new TestBrowser(app);
  const email = 'cli@example.com';
  await addPerson(app, email);
  await browser.signIn(email);
  const wrong: [Record<string, string>, number][] = [
    [{ codeVerifier: randomBytes(32).toString('base64url') }, 0],
    [{ redirectUri: 'http://127.0.0.1:8888/callback' }, 0],
    [{}, 61],
  ];
  for (const [changes, wait] of wrong) {
    const { codeVerifier, ...request } = cliRequest();
    const approved = await browser.send('POST', '/api/auth/cli/approve', request);
    assert.equal(approved.statusCode, 200, approved.body);
    const code = new URL(approved.json<{ location: string }>().location).searchParams.get('code');
    app.advance(wait);
    const body = { code, codeVerifier, redirectUri: request.redirectUri };
    await refused('exchangeCliCode', 403, { as: null, body: { ...body, ...changes } });
    await refused('exchangeCliCode', 403, { as: null, body });
  }
  const { codeVerifier: _, ...request } = cliRequest();
  await refused('approveCliSignIn', 403, /in a browser/, { body: request });
  browser.csrfToken = undefined;
  assert.equal((await browser.send('POST', '/api/auth/cli/approve', request)).statusCode, 403);
});

test('codes are handed only to this machine', async () => {
  const browser = new TestBrowser(app);
  for (const address of [
    'https://127.0.0.1:7777/',
    'http://evil.example:7777/',
    'http://127.0.0.1.evil.example:7777/',
    'http://127.0.0.1/',
    'http://user@127.0.0.1:7777/',
    'http://127.0.0.1:7777@evil.example/',
    'http://localhost:7777/',
    'javascript:alert(1)',
    'x',
  ]) {
    const response = await startCli(browser, cliRequest(address));
    assert.equal(response.statusCode, 400, address);
    assert.match(response.json<ErrorBody>().message, /\/query\/redirectUri/, address);
  }
  assert.equal((await startCli(browser, cliRequest('http://[::1]:7777/'))).statusCode, 302);
});

test('the command line learns why it got no code', async () => {
  const { id } = account();
  const browser = new TestBrowser(app);
  const started = await startCli(browser, cliRequest());
  const arrived = await provider.visit(locationOf(started), id);
  const handed = new URL(locationOf(await browser.send('GET', arrived.pathname + arrived.search)));
  assert.deepEqual(
    [handed.port, handed.searchParams.get('error'), handed.searchParams.get('state')],
    ['7777', 'access_denied', 'of-the-cli'],
  );
  assert.match(handed.searchParams.get('error_description') ?? '', /No one has invited/);
});

test('a provider that does not answer, or is another one, is a 503', async () => {
  for (const issuer of ['http://127.0.0.1:9', `${provider.issuer}/other`]) {
    const broken = await testApp({ ...settings, ENVARIUM_OIDC_ISSUER: issuer });
    const response = await broken.app.inject({ url: '/api/auth/oidc/start' });
    assert.equal(response.statusCode, 503, issuer);
    assert.match(response.json<ErrorBody>().message, /identity provider/);
  }
});

test('no secret of a sign-in is stored in clear or logged', async () => {
  const quiet = await testApp({ ...settings, ENVARIUM_LOG_LEVEL: 'trace' });
  const { id } = account({ groups: ['admins'] });
  const browser = new TestBrowser(quiet);
  const arrived = await visit(browser, id);
  const [, waiting = ''] = [...browser.cookies].find(([name]) => name === 'envarium-sign-in') ?? [];
  const tables = await quiet.database.pool.query<{ text: string }>(
    "select encode(sealed_details, 'escape') || state_sha256::text as text from oidc_request",
  );
  await browser.send('GET', arrived.pathname + arrived.search);
  const everything = tables.rows.map(({ text }) => text).join('') + quiet.logged.join('');
  const { searchParams } = arrived;
  for (const secret of [
    waiting,
    searchParams.get('code'),
    searchParams.get('state'),
    'planted-client-secret',
  ])
    assert.ok(secret && !everything.includes(secret), String(secret));
});
