/** Limits of the provider of one organization for the people of others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addPerson, goodPassword, TestBrowser } from '../../../testing/person.ts';
import { scimClient } from '../../../testing/scim.ts';
import { startTests } from '../../../testing/start.ts';
import { storeIdentity } from '../../rows/sign-in/identity-store.ts';

const { app, organizationId, ok, sql } = await startTests();
const scim = await scimClient(app);
const foreign = await ok('createOrganization', { body: { name: 'Foreign' } });
const foreignScim = await scimClient(app, foreign.id);
const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];

/** An account with a password and a key, created by an outsider. */
async function prepare(email: string): Promise<TestBrowser> {
  const body = { email, organizationId: foreign.id };
  const { link = '' } = await ok('createInvitation', { body });
  const token = link.split('#')[1];
  await ok('acceptInvitation', { as: null, body: { token, name: 'M', password: goodPassword } });
  const browser = new TestBrowser(app);
  await browser.signIn(email);
  return browser;
}

const organizationsOf = async (browser: TestBrowser) =>
  (await browser.send('GET', '/api/organizations')).json<{ id: string }[]>().map(({ id }) => id);

test('a provider does not take in an account with credentials of an address that no one has verified', async () => {
  const email = 'new.hire@example.com';
  const browser = await prepare(email);
  const post = () => scim('POST', '/Users', { schemas, userName: email });
  const refusal = await post();
  assert.deepEqual([refusal.status, refusal.body.scimType], [409, 'uniqueness']);
  assert.match(refusal.body.detail, /no one has verified.*sign in through the identity provider/);
  assert.deepEqual(await organizationsOf(browser), [foreign.id]);
  await sql('update app_user set is_email_verified = true where email = $1', email);
  assert.equal((await post()).status, 201);
});

test('an invited person with such an account is not activated', async () => {
  const email = 'invited@example.com';
  const { userId } = await ok('createInvitation', { body: { email, organizationId } });
  const browser = await prepare(email);
  const put = await scim('PUT', `/Users/${userId}`, { schemas, userName: email, active: true });
  assert.deepEqual([put.status, put.body.scimType], [409, 'uniqueness']);
  assert.deepEqual(await organizationsOf(browser), [foreign.id]);
});

test('a provider ends sessions and keys only of people who are active in no other organization', async () => {
  const email = 'officer@example.com';
  const userId = await addPerson(app, email, { [organizationId]: 'User' });
  await sql('update app_user set is_email_verified = true where id = $1', userId);
  const browser = new TestBrowser(app);
  await browser.signIn(email);
  assert.equal((await foreignScim('POST', '/Users', { schemas, userName: email })).status, 201);
  const put = { schemas, userName: email, active: false };
  assert.equal((await foreignScim('PUT', `/Users/${userId}`, put)).status, 200);
  assert.deepEqual(await organizationsOf(browser), [organizationId]);
  assert.equal((await foreignScim('DELETE', `/Users/${userId}`)).status, 204);
  assert.deepEqual(await organizationsOf(browser), [organizationId]);
  assert.equal((await scim('PUT', `/Users/${userId}`, put)).status, 200);
  assert.equal((await browser.send('GET', '/api/organizations')).statusCode, 401);
});

test('with another userName, identities and links of the account end, too', async () => {
  const { body } = await foreignScim('POST', '/Users', { schemas, userName: 'mallory@example.com' });
  const userId = body.id as string;
  const identity = { issuer: 'https://login.example', subject: 'mallory', userId, at: new Date() };
  const count = async () => {
    const rows = await sql<{ number: string }>(
      `select (select count(*) from oidc_identity where user_id = $1) +
        (select count(*) from sign_in_link where user_id = $1) as number`,
      userId,
    );
    return Number(rows[0]?.number);
  };
  await storeIdentity(app.context.db, identity);
  await ok('createSignInLink', { id: userId });
  const rename = (userName: string) => foreignScim('PUT', `/Users/${userId}`, { schemas, userName });
  assert.equal((await rename('Mallory@example.com')).status, 200);
  assert.equal(await count(), 2, 'the same address in another spelling');
  assert.equal((await rename('another.hire@example.com')).status, 200);
  assert.equal(await count(), 0);
});
