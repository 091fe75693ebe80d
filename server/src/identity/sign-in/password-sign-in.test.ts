import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorBody } from '#contract/schema/errors.ts';
import { testApp } from '../../../testing/app.ts';
import { ok, refused } from '../../../testing/client.ts';
import { addPerson, goodPassword, TestBrowser } from '../../../testing/person.ts';
import { checkNewPassword } from './check-password.ts';
import { hashPassword, matchesPassword } from './hash-password.ts';

const email = 'ada@example.com';

test('a password is hashed with argon2id and a salt of its own, and compared in any form of its characters', async () => {
  const [first, second] = [await hashPassword('Zürich über alles'), await hashPassword('Zürich über alles')];
  assert.match(first, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.notEqual(first, second);
  assert.equal(await matchesPassword('Zürich über alles'.normalize('NFD'), first), true);
  assert.equal(await matchesPassword('Zürich über allem', first), false);
  for (const nothing of [null, '', '$argon2id$v=19$m=1', '$2b$10$x'])
    assert.equal(await matchesPassword('', nothing), false);
});

test('weak and overlong passwords are refused with the reason', () => {
  const weak: Record<string, RegExp> = {
    '': /too weak.*12 characters/,
    elevenchars: /too weak.*12 characters/,
    '😀😀😀😀😀😀': /too weak.*12 characters/,
    ['x'.repeat(1025)]: /too long.*1024/,
    'ada.lovelace@example.com': /e-mail/,
    'my ADA.lovelace@example.com!': /e-mail/,
    aaaaaaaaaaaaaa: /most common/,
    abababababababab: /most common/,
    '123456789012': /most common/,
    abcdefghijklmnop: /most common/,
    Password1234: /most common/,
    'P@ssw0rd2026!!': /most common/,
    'changeme!!!!': /most common/,
    qwertyuiop123: /most common/,
  };
  for (const [password, reason] of Object.entries(weak))
    assert.throws(
      () => checkNewPassword('body.password', password, 'ada.lovelace@example.com'),
      reason,
      password,
    );
  for (const password of [
    goodPassword,
    'x7#kQ9!vLm2$',
    '密码很长的一句话没有人能猜',
    `${'long words '.repeat(93)}!`,
  ])
    checkNewPassword('body.password', password, 'ada.lovelace@example.com');
});

test('wrong passwords and unknown accounts get the same answer, after the same work', async () => {
  const app = await testApp();
  await addPerson(app, email);
  const answers = [];
  const times: number[] = [];
  for (const body of [
    { email, password: 'wrong but long enough' },
    { email: 'nobody@example.com', password: 'wrong but long enough' },
    { email: 'envarium@localhost', password: '' },
  ]) {
    const before = performance.now();
    const { code, message } = await refused(app, 'signIn', 401, { body, as: null });
    times.push(performance.now() - before);
    answers.push({ code, message });
  }
  assert.equal(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1);
  assert.ok(
    Math.min(...times) > Math.max(...times) / 10,
    `none is answered without a hash: ${times.join(', ')}`,
  );
});

test('failures of an account make further attempts wait, in all servers, whether or not there is an account', async () => {
  const app = await testApp();
  await addPerson(app, email);
  for (const each of [email, 'nobody@example.com']) {
    const wrong = { email: each, password: 'wrong but long enough' };
    for (let failure = 1; failure <= 5; failure++)
      await refused(app, 'signIn', 401, { body: wrong, as: null });
    const refusal = await refused(app, 'signIn', 429, { body: wrong, as: null });
    assert.match(refusal.message, /failed sign-ins for this account: try again in 1 s/);
    app.advance(2);
    await refused(app, 'signIn', 401, { body: { ...wrong, email: each.toUpperCase() }, as: null });
    const right = { email: each, password: goodPassword };
    await refused(app, 'signIn', 429, /in 2 s/, { body: right, as: null });
  }
  const right = { email, password: goodPassword };
  app.advance(5);
  await ok(app, 'signIn', { body: right, as: null });
  await refused(app, 'signIn', 401, { body: { email, password: 'wrong but long enough' }, as: null });
});

test('a crowd of attempts at once gets no more tries than one after the other', async () => {
  const app = await testApp();
  await addPerson(app, email);
  const body = { email, password: 'wrong but long enough' };
  const answers = await Promise.all(
    Array.from({ length: 12 }, () =>
      app.app.inject({ method: 'POST', url: '/api/auth/sign-in', payload: JSON.stringify(body) }),
    ),
  );
  const statuses = answers.map(({ statusCode }) => statusCode);
  assert.deepEqual(
    [statuses.filter((status) => status === 401).length, new Set(statuses)],
    [5, new Set([401, 429])],
  );
  const limited = answers.find(({ statusCode }) => statusCode === 429);
  assert.match(String(limited?.headers['retry-after']), /^[12]$/);
});

test('no one can keep a person from signing in where they have signed in before', async () => {
  const app = await testApp();
  await addPerson(app, email);
  const from = (remoteAddress: string, password: string) =>
    app.app.inject({
      method: 'POST',
      url: '/api/auth/sign-in',
      payload: JSON.stringify({ email, password }),
      remoteAddress,
    });
  assert.equal((await from('192.0.2.1', goodPassword)).statusCode, 200);
  for (let failure = 1; failure <= 5; failure++) await from('198.51.100.9', 'wrong but long enough');
  assert.equal((await from('198.51.100.9', goodPassword)).statusCode, 429);
  assert.equal((await from('192.0.2.77', goodPassword)).statusCode, 429);
  assert.equal((await from('192.0.2.1', goodPassword)).statusCode, 200);
});

test('failures from one address make it wait, whatever accounts they are about', async () => {
  const app = await testApp();
  await addPerson(app, email);
  for (let failure = 1; failure <= 30; failure++)
    await refused(app, 'signIn', 401, {
      body: { email: `x${failure}@example.com`, password: 'p' },
      as: null,
    });
  const refusal = await refused(app, 'signIn', 429, { body: { email, password: goodPassword }, as: null });
  assert.match(refusal.message, /from your address/);
  const { rows } = await app.database.pool.query<{ text: string }>(
    'select a::text as text from sign_in_attempt a',
  );
  assert.ok(rows.length > 0 && rows.every(({ text }) => !text.includes('example')));
});

test('a new password ends all other sessions, and only the current one opens the change', async () => {
  const app = await testApp();
  await addPerson(app, email);
  const [browser, other] = [new TestBrowser(app), new TestBrowser(app)];
  await browser.signIn(email);
  await other.signIn(email);
  const cli = await ok(app, 'signInCli', { body: { email, password: goodPassword }, as: null });
  const change = async (currentPassword: string, newPassword: string) => {
    const response = await browser.send('PUT', '/api/users/me/password', { currentPassword, newPassword });
    return { status: response.statusCode, message: response.json<Partial<ErrorBody>>().message };
  };
  const next = 'another long and quiet sentence';
  assert.deepEqual(await change('wrong', next), {
    status: 400,
    message: '/body/currentPassword is not the current password',
  });
  assert.match((await change(goodPassword, 'short')).message ?? '', /^\/body\/newPassword is too weak/);
  assert.match(
    (await change(goodPassword, 'x'.repeat(1025))).message ?? '',
    /^\/body\/newPassword is too long/,
  );
  assert.equal((await change(goodPassword, next)).status, 200);
  assert.equal((await browser.send('GET', '/api/users/me')).statusCode, 200);
  assert.equal((await other.send('GET', '/api/users/me')).statusCode, 401);
  await refused(app, 'getCurrentUser', 401, { as: { id: cli.apiKeyId, secret: cli.apiKeySecret } });
  await refused(app, 'signIn', 401, { body: { email, password: goodPassword }, as: null });
  await new TestBrowser(app).signIn(email, next);
  await refused(app, 'changePassword', 403, { body: { currentPassword: next, newPassword: goodPassword } });
});

test('passwords are stored as sealed hashes, and are in no log and no audit entry', async () => {
  const app = await testApp({ ENVARIUM_LOG_LEVEL: 'trace' });
  await addPerson(app, email);
  await refused(app, 'signIn', 401, { body: { email, password: 'planted wrong password' }, as: null });
  await new TestBrowser(app).signIn(email);
  const { rows } = await app.database.pool.query<{ text: string }>(
    `select encode(sealed_hash, 'escape') as text from password union all select a::text from audit_event a
     union all select a::text from sign_in_attempt a`,
  );
  const everything = `${rows.map(({ text }) => text).join('\n')}${app.logged.join('')}`;
  for (const secret of ['planted', goodPassword, 'argon2id']) assert.ok(!everything.includes(secret), secret);
});

test('sign-in by password can be switched off', async () => {
  const app = await testApp({ ENVARIUM_PASSWORD_SIGN_IN: 'false' });
  await addPerson(app, email);
  const body = { email, password: goodPassword };
  for (const name of ['signIn', 'signInCli'] as const)
    await refused(app, name, 403, /ENVARIUM_PASSWORD_SIGN_IN/, { body, as: null });
  assert.equal((await ok(app, 'listSignInMethods', { as: null })).password, false);
});

test('malformed sign-ins are refused before anything is hashed', async () => {
  const app = await testApp();
  const bodies: [object, RegExp][] = [
    [{}, /email is required/],
    [{ email }, /password is required/],
    [{ email: 'no address', password: 'p' }, /email/],
    [{ email: `${'a'.repeat(250)}@example.com`, password: 'p' }, /email/],
    [{ email, password: 'p'.repeat(4097) }, /password/],
    [{ email, password: ['p'] }, /password/],
    [{ email, password: 'a\0b' }, /NUL/],
    [{ email, password: 'p', role: 'Admin' }, /role/],
  ];
  for (const [body, message] of bodies) await refused(app, 'signIn', 400, message, { body, as: null });
});
