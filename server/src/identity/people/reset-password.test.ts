import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addPerson, goodPassword, TestBrowser } from '../../../testing/person.ts';
import { startTests } from '../../../testing/start.ts';

const { app, ok, refused, sql } = await startTests();
const email = 'ada@example.com';
const id = await addPerson(app, email);
const next = 'another long and quiet sentence';
const createLink = async () => {
  const { link } = await ok('createPasswordReset', { id });
  return link.split('#')[1] ?? '';
};
const gone = (token: string) => refused('resetPassword', 410, { as: null, body: { token, password: next } });

test('the operator makes a one-time link, with which a person sets another password and is signed in', async () => {
  const browser = new TestBrowser(app);
  await browser.signIn(email);
  const key = (await browser.send('POST', '/api/personal-api-keys', { name: 'mine' })).json();
  const as = { id: key.apiKeyId, secret: key.apiKeySecret };
  await ok('getCurrentUser', { as });
  const replaced = await createLink();
  const token = await createLink();
  await gone(replaced);
  const weak = { as: null, body: { token, password: 'short' } };
  await refused('resetPassword', 400, /\/body\/password is too weak/, weak);
  const { userId } = await ok('resetPassword', { as: null, body: { token, password: next } });
  assert.equal(userId, id);
  assert.equal((await browser.send('GET', '/api/users/me')).statusCode, 401, 'other sessions have ended');
  await refused('getCurrentUser', 401, { as });
  await gone(token);
  await refused('signIn', 401, { as: null, body: { email, password: goodPassword } });
  await new TestBrowser(app).signIn(email, next);
});

test('a link expires, and of two uses at once one succeeds', async () => {
  const token = await createLink();
  app.advance(24 * 3600);
  await gone(token);
  const again = await createLink();
  const uses = await Promise.all(
    [1, 2].map(() =>
      app.app.inject({
        method: 'POST',
        url: '/api/auth/password-reset',
        payload: { token: again, password: goodPassword },
      }),
    ),
  );
  assert.deepEqual(uses.map(({ statusCode }) => statusCode).toSorted(), [200, 410]);
  for (const wrong of ['', '.', `${id}.`, `${id}.wrong`, 'nobody.x', 'a.b.c'])
    if (wrong !== '') await gone(wrong);
});

test('no one but the operator makes links, and only for people', async () => {
  const admin = await app.addKey({ [app.organizationId]: 'Admin' });
  await refused('createPasswordReset', 404, { id, as: admin });
  await refused('createPasswordReset', 404, { id: 'nobody' });
  await refused('createPasswordReset', 409, { id: app.admin.id });
});

test('the link is in no log and no table', async () => {
  const token = await createLink();
  const rows = await sql<{ text: string }>(
    'select p::text as text from password_reset p union all select a::text from audit_event a',
  );
  const everything = `${rows.map(({ text }) => text).join('\n')}${app.logged.join('')}`;
  assert.ok(!everything.includes(token.split('.')[1] ?? token));
});
