import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CurrentUser, Session, SignedIn } from '#contract/sign-in/shapes.ts';
import { testApp } from '../../../testing/app.ts';
import { call } from '../../../testing/client.ts';
import { addPerson, TestBrowser } from '../../../testing/person.ts';
import { startTests } from '../../../testing/start.ts';

const { app, ok, refused, sql } = await startTests();
const id = await addPerson(app, 'ada@example.com', { [app.organizationId]: 'User' });
const createLink = () => ok('createSignInLink', { id });
const tokenOf = ({ link }: { readonly link: string }) => link.split('#link=')[1] ?? '';
const createToken = async () => tokenOf(await createLink());
const refusedToken = (token: string) => refused('signInByLink', 401, { as: null, body: { token } });

test('the operator makes a one-time link, which signs the person in once', async () => {
  const { link, expiresAt, userId } = await createLink();
  assert.match(link, /^http:\/\/[^/]+\/sign-in#link=[^/]+$/);
  assert.equal(userId, id);
  assert.equal(Math.round((new Date(expiresAt).getTime() - app.context.now().getTime()) / 60_000), 15);
  const browser = new TestBrowser(app);
  const response = await browser.send('POST', '/api/auth/sign-in-link', { token: tokenOf({ link }) });
  const signedIn = response.json<SignedIn>();
  assert.deepEqual([response.statusCode, signedIn.userId], [200, id]);
  const me = (await browser.send('GET', '/api/users/me')).json<CurrentUser>();
  assert.deepEqual(
    [me.user.user_id, me.identifiedBy, me.session?.csrfToken],
    [id, 'session', signedIn.csrfToken],
  );
  const [session] = (await browser.send('GET', '/api/users/me/sessions')).json<Session[]>();
  assert.equal(session?.way, 'link');
  const { message } = await refusedToken(tokenOf({ link }));
  assert.match(message, /was used, has expired or was replaced/);
});

test('a new link replaces the one before, a link expires, and of two uses at once one succeeds', async () => {
  const replaced = await createToken();
  const token = await createToken();
  await refusedToken(replaced);
  app.advance(15 * 60);
  await refusedToken(token);
  const again = await createToken();
  const uses = await Promise.all(
    [1, 2].map(() => call(app, 'signInByLink', { as: null, body: { token: again } })),
  );
  assert.deepEqual(uses.map(({ statusCode }) => statusCode).toSorted(), [200, 401]);
  for (const wrong of ['.', `${id}.`, `${id}.wrong`, 'nobody.x', 'a.b.c']) await refusedToken(wrong);
});

test('a link of an account that was closed or blocked opens nothing', async () => {
  const other = await addPerson(app, 'ben@example.com');
  const token = tokenOf(await ok('createSignInLink', { id: other }));
  await sql('update app_user set is_blocked = true where id = $1', other);
  await refused('signInByLink', 403, { as: null, body: { token } });
  await sql('update app_user set is_blocked = false where id = $1', other);
  const second = tokenOf(await ok('createSignInLink', { id: other }));
  await ok('deleteUser', { id: other });
  await refusedToken(second);
});

test('a password that is reset ends a link that was not used yet', async () => {
  const other = await addPerson(app, 'eve@example.com');
  const token = tokenOf(await ok('createSignInLink', { id: other }));
  const { link } = await ok('createPasswordReset', { id: other });
  const body = { token: link.split('#')[1] ?? '', password: 'correct horse battery staple 9' };
  await ok('resetPassword', { as: null, body });
  await refusedToken(token);
});

test('no one but the operator makes links, and only for people', async () => {
  const admin = await app.addKey({ [app.organizationId]: 'Admin' });
  await refused('createSignInLink', 404, { id, as: admin });
  await refused('createSignInLink', 404, { id: 'nobody' });
  await refused('createSignInLink', 409, { id: app.admin.id });
});

test('who guesses links is refused without a look after a number of failures', async () => {
  const limited = await testApp({ ENVARIUM_FAILURE_LIMIT: '3' });
  const guess = () => call(limited, 'signInByLink', { as: null, body: { token: 'somebody.wrong' } });
  const statuses = [];
  for (let index = 0; index < 5; index++) statuses.push((await guess()).statusCode);
  assert.deepEqual(statuses, [401, 401, 401, 429, 429]);
});

test('links are audited, and their secrets are in no log and no table', async () => {
  const token = await createToken();
  await ok('signInByLink', { as: null, body: { token } });
  const rows = await sql<{ action: string; way: string | null }>(
    `select action, details ->> 'way' as way from audit_event order by at desc, id desc limit 2`,
  );
  assert.deepEqual(rows, [
    { action: 'session.created', way: 'link' },
    { action: 'signInLink.created', way: null },
  ]);
  const unused = await createToken();
  const tables = await sql<{ text: string }>(
    'select l::text as text from sign_in_link l union all select a::text from audit_event a',
  );
  const everything = `${tables.map(({ text }) => text).join('\n')}${app.logged.join('')}`;
  for (const each of [token, unused]) assert.ok(!everything.includes(each.split('.')[1] ?? each));
});
