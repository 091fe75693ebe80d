/** An organization that invites a person must not gain access to their roles elsewhere. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goodPassword } from '../../../testing/person.ts';
import { scimClient } from '../../../testing/scim.ts';
import { startTests } from '../../../testing/start.ts';

const { app, ok, refused } = await startTests();
const scim = await scimClient(app);
const outsider = await app.addKey();
const foreign = await ok('createOrganization', { body: { name: 'Foreign' }, as: outsider });
const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];

async function linkFromForeign(email: string): Promise<string> {
  const body = { email, organizationId: foreign.id };
  const { link = '' } = await ok('createInvitation', { body, as: outsider });
  return link.split('#')[1] ?? '';
}

const accept = (token: string) => ({ as: null, body: { token, name: 'V', password: goodPassword } });

for (const active of [true, false])
  test(`a person whom a provider has made a member (active: ${active}) gets no password by an invitation`, async () => {
    const email = `v-${active}@example.com`;
    assert.equal((await scim('POST', '/Users', { schemas, userName: email, active })).status, 201);
    const token = await linkFromForeign(email);
    const preview = await ok('previewInvitation', { as: null, body: { token } });
    assert.equal(preview.hasAccount, true);
    await refused('acceptInvitation', 409, /has an account/, accept(token));
  });

test('neither does an invited person whom a provider activates', async () => {
  const email = 'activated@example.com';
  const { userId } = await ok('createInvitation', { body: { email, organizationId: app.organizationId } });
  const token = await linkFromForeign(email);
  const put = await scim('PUT', `/Users/${userId}`, { schemas, userName: email, active: true });
  assert.equal(put.status, 200);
  await refused('acceptInvitation', 409, accept(token));
});

test('who is invited to two organizations accepts either invitation', async () => {
  const email = 'both@example.com';
  const tokens = [await linkFromForeign(email)];
  const { link = '' } = await ok('createInvitation', { body: { email, organizationId: app.organizationId } });
  tokens.push(link.split('#')[1] ?? '');
  await ok('acceptInvitation', accept(tokens[1] ?? ''));
  await refused('acceptInvitation', 409, accept(tokens[0] ?? ''));
});
