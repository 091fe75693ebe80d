/**
 * Account that an identity of the provider opens: the one that it opened before; else the one with the
 * verified e-mail; else a new one, where a claim makes the person a member of an organization.
 */
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { Refusal } from '../../ground/errors.ts';
import { findIdentity, storeIdentity } from '../../rows/sign-in/identity-store.ts';
import { findPersonByEmail, insertPerson, lockPerson, updatePerson } from '../../rows/users/person-store.ts';
import type { UserRow } from '../../rows/users/user-store.ts';
import { acceptAllOf } from '../people/accept-invitation.ts';
import { endCredentials } from '../people/end-credentials.ts';
import { asPerson } from '../sign-in/start-session.ts';
import { type ClaimContent, followClaim, wantedBy } from './follow-claim.ts';
import type { ProviderIdentity } from './provider.ts';

/** A person who signs in with this identity for the first time. */
async function firstSignIn(
  context: ActorContext,
  identity: ProviderIdentity,
  wanted: ClaimContent,
): Promise<UserRow> {
  const { db } = context;
  const { verifiedEmail: email } = identity;
  if (email === null)
    throw new Refusal(
      'forbidden',
      'The identity provider has not verified your e-mail address (email_verified): ask its administrator',
    );
  const known = await findPersonByEmail(db, email);
  if (!known && wanted.roles.size === 0)
    throw new Refusal('forbidden', `No one has invited ${email}: ask an administrator of your organization`);
  const person =
    known ??
    (await insertPerson(db, {
      id: context.newId(),
      email,
      name: identity.name ?? email,
      createdBy: null,
      isEmailVerified: true,
    }));
  // Another person may have opened the account with an e-mail that is not theirs: the owner of the e-mail takes over.
  if (!person.is_email_verified) await endCredentials(context, person.id);
  const name = person.name === person.email ? (identity.name ?? person.name) : person.name;
  const picture = person.picture ?? identity.picture;
  await updatePerson(db, person.id, { name, picture, is_email_verified: true, updated_at: context.now() });
  await recordAudit(asPerson(context, person), {
    organizationId: null,
    action: 'identity.linked',
    entity: 'user',
    entityId: person.id,
    details: { issuer: identity.issuer },
  });
  return { ...person, name };
}

/**
 * @returns the id of the user
 * @throws Refusal 403 for an identity without an invitation, without a verified e-mail, or of a blocked user
 */
export async function resolvePerson(context: ActorContext, identity: ProviderIdentity): Promise<string> {
  const { issuer, subject } = identity;
  return inTransaction(context, async (context) => {
    const rules = context.settings.oidcRules;
    const wanted = await wantedBy(context, rules, identity.groups);
    const knownId = await findIdentity(context.db, issuer, subject);
    const userId = knownId ?? (await firstSignIn(context, identity, wanted)).id;
    const person = await lockPerson(context.db, userId);
    if (!person || person.is_blocked)
      throw new Refusal('forbidden', 'This account cannot sign in: ask an administrator');
    await storeIdentity(context.db, { issuer, subject, userId, at: context.now() });
    const ofPerson = { ...asPerson(context, person), db: context.db };
    if (identity.verifiedEmail?.toLowerCase() === person.email.toLowerCase()) {
      if (!person.is_email_verified) await updatePerson(context.db, userId, { is_email_verified: true });
      await acceptAllOf(ofPerson, userId);
    }
    if (rules.length > 0) await followClaim(ofPerson, userId, wanted);
    return userId;
  });
}
