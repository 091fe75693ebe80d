/** Identity providers create, change, deactivate and remove people of an organization. */
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { ScimRefusal } from '../../framework/http/replies/scim-refusal.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { orNotFound } from '../../ground/errors.ts';
import {
  getMembership,
  insertMembership,
  listMemberships,
  updateMembership,
} from '../../rows/organizations/membership-store.ts';
import { lockOrganizationRow } from '../../rows/organizations/organization-store.ts';
import { revokeInvitationsOf } from '../../rows/people/invitation-store.ts';
import type { UserAttributes } from '../../rows/scim/columns.ts';
import { putScimUser, scimUsersOf } from '../../rows/scim/scim-store.ts';
import { hasIdentity } from '../../rows/sign-in/identity-store.ts';
import { hasPassword } from '../../rows/sign-in/password-store.ts';
import { deleteSessionsOf, listSessionRows } from '../../rows/sign-in/session-store.ts';
import { listKeysOfUser } from '../../rows/users/api-key-store.ts';
import { findPersonByEmail, insertPerson, lockPerson, updatePerson } from '../../rows/users/person-store.ts';
import { deleteKeysOf } from '../../rows/users/user-store.ts';
import { requireOtherAdmin } from '../../tenancy/organizations/keep-an-admin.ts';
import { endCredentials } from '../people/end-credentials.ts';
import { removeMember } from '../people/leave-organization.ts';
import { findUser } from './list-users.ts';
import { applyPatch } from './patch.ts';
import { readUser } from './read-values.ts';
import type { UserResource, UserValues } from './resource.ts';
import type { ScimRequest } from './scim-request.ts';

/** Mark of memberships that a provider made. */
const scimSource = 'scim';

function attributesOf({ name, displayName, emails }: UserValues): UserAttributes {
  return {
    ...(name ? { name } : {}),
    ...(displayName === undefined ? {} : { displayName }),
    ...(emails ? { emails } : {}),
  };
}

function nameOf({ name, displayName, userName }: UserValues): string {
  const parts = [name?.givenName, name?.familyName].filter((part) => part !== undefined).join(' ');
  return displayName ?? name?.formatted ?? (parts || userName);
}

function taken(userName: string): ScimRefusal {
  return new ScimRefusal('uniqueness', `Another user has the userName ${userName} already`, 'conflict');
}

/**
 * An account with credentials, of an address that was not verified, may belong to another person: an invitation by
 * another organization opens one for any address. Ending the credentials here would let each organization lock
 * out the people of all others.
 * @throws ScimRefusal 409. The person stays as it is until the transaction ends.
 */
async function requireOwnAddress({ db }: ActorContext, userId: string): Promise<void> {
  const person = await lockPerson(db, userId);
  if (!person || person.is_email_verified) return;
  const isOpen =
    (await hasPassword(db, userId)) ||
    (await hasIdentity(db, userId)) ||
    (await listSessionRows(db, userId)).length > 0 ||
    (await listKeysOfUser(db, userId)).length > 0;
  if (isOpen)
    throw new ScimRefusal(
      'uniqueness',
      `${person.email} has an account with an address that no one has verified: let the person sign in through the identity provider first, or join by an invitation`,
      'conflict',
    );
}

async function store(
  context: ActorContext,
  organizationId: string,
  userId: string,
  values: UserValues,
  hasCreatedPerson: boolean,
): Promise<void> {
  await putScimUser(context.db, {
    organization_id: organizationId,
    user_id: userId,
    external_id: values.externalId ?? null,
    attributes: JSON.stringify(attributesOf(values)),
    has_created_person: hasCreatedPerson,
    updated_at: context.now(),
  });
}

async function requireUser(request: ScimRequest, context: ActorContext, id: string): Promise<UserResource> {
  return orNotFound(await findUser({ ...request, context }, id), 'user', id);
}

/**
 * Makes a person a member, with the role User. Who has an account in another organization keeps it.
 * @throws ScimRefusal 409 where the e-mail is a member's already
 */
export async function createUser(request: ScimRequest, body: unknown): Promise<UserResource> {
  const values = readUser(body);
  const { organizationId } = request;
  return inTransaction(request.context, async (context) => {
    const id = context.newId();
    const person = await insertPerson(context.db, {
      id,
      email: values.userName,
      name: nameOf(values),
      createdBy: null,
      isEmailVerified: false,
    });
    if (await getMembership(context.db, organizationId, person.id)) throw taken(values.userName);
    await requireOwnAddress(context, person.id);
    await lockOrganizationRow(context.db, organizationId);
    const status = values.active ? 'Active' : 'Inactive';
    const isMade = await insertMembership(context.db, {
      organization_id: organizationId,
      user_id: person.id,
      role: 'User',
      status,
      source: scimSource,
    });
    if (!isMade) throw taken(values.userName);
    const hasCreated = person.id === id;
    if (hasCreated) await updatePerson(context.db, id, namesOf(values));
    await store(context, organizationId, person.id, values, hasCreated);
    await recordAudit(context, {
      organizationId,
      action: 'user.added',
      entityId: person.id,
      details: { role: 'User', status, source: scimSource },
    });
    return requireUser(request, context, person.id);
  });
}

function namesOf(values: UserValues) {
  return {
    name: nameOf(values),
    given_name: values.name?.givenName ?? null,
    family_name: values.name?.familyName ?? null,
  };
}

/** Sessions and personal keys end where the person is active nowhere else: they may serve another organization. */
async function endAccess({ db }: ActorContext, organizationId: string, userId: string): Promise<void> {
  const others = (await listMemberships(db, userId)).filter(
    (row) => row.organization_id !== organizationId && row.status === 'Active',
  );
  if (others.length > 0) return;
  await deleteSessionsOf(db, userId);
  await deleteKeysOf(db, userId);
}

async function setActive(
  context: ActorContext,
  organizationId: string,
  userId: string,
  isActive: boolean,
): Promise<void> {
  if (!isActive) await requireOtherAdmin(context, organizationId, userId);
  else if ((await getMembership(context.db, organizationId, userId))?.status === 'Invited')
    await requireOwnAddress(context, userId);
  await revokeInvitationsOf(context.db, userId, context.now(), organizationId);
  await updateMembership(context.db, organizationId, userId, { status: isActive ? 'Active' : 'Inactive' });
  if (!isActive) await endAccess(context, organizationId, userId);
}

/**
 * Name and e-mail of an account belong to the provider that created it, as long as the person is in no other
 * organization.
 */
async function changeAccount(
  context: ActorContext,
  { id, userName }: UserResource,
  values: UserValues,
  isOwn: boolean,
): Promise<void> {
  const { db } = context;
  if (userName !== values.userName) {
    if (!isOwn)
      throw new ScimRefusal(
        'mutability',
        `userName stays ${userName}: the person had this account before, or belongs to another organization`,
      );
    const other = await findPersonByEmail(db, values.userName);
    if (other && other.id !== id) throw taken(values.userName);
    await updatePerson(db, id, { email: values.userName });
    // Credentials of one address must not open the account of the owner of another.
    if (userName.toLowerCase() !== values.userName.toLowerCase()) {
      await updatePerson(db, id, { is_email_verified: false });
      await endCredentials(context, id);
    }
  }
  if (isOwn) await updatePerson(db, id, { ...namesOf(values), updated_at: context.now() });
}

/** View in the audit trail: names and addresses are personal data. */
function audited({ active, externalId }: UserValues) {
  return { active, externalId: externalId ?? null };
}

async function change(request: ScimRequest, id: string, read: (before: UserResource) => UserValues) {
  const { organizationId } = request;
  return inTransaction(request.context, async (context) => {
    // The person first, in the order in which an account is closed.
    await lockPerson(context.db, id);
    await lockOrganizationRow(context.db, organizationId);
    const before = await requireUser(request, context, id);
    const values = read(before);
    const row = (await scimUsersOf(context.db, organizationId, [id])).get(id);
    const isAlone = (await listMemberships(context.db, id)).length === 1;
    await changeAccount(context, before, values, row?.has_created_person === true && isAlone);
    if (values.active !== before.active) await setActive(context, organizationId, id, values.active);
    await store(context, organizationId, id, values, row?.has_created_person ?? false);
    const fields = ['userName', 'name', 'displayName', 'emails'] as const;
    await recordAudit(context, {
      organizationId,
      action: values.active === before.active ? 'user.updated' : `user.${values.active ? '' : 'de'}activated`,
      entityId: id,
      details: {
        source: scimSource,
        fields: fields.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(values[name])),
      },
      ...changesOf(audited(before), audited(values)),
    });
    return requireUser(request, context, id);
  });
}

/** @throws Refusal 404, ScimRefusal 400 and 409, 409 for the last administrator */
export function replaceUser(request: ScimRequest, id: string, body: unknown): Promise<UserResource> {
  return change(request, id, (before) => readUser(body, before));
}

/** The same for a PATCH. */
export function patchUser(request: ScimRequest, id: string, body: unknown): Promise<UserResource> {
  return change(request, id, (before) => readUser(applyPatch(before, 'User', body), before));
}

/** Takes membership, roles and teams of the organization from the person, whose account stays. */
export async function deleteUser(request: ScimRequest, id: string): Promise<void> {
  await inTransaction(request.context, async (context) => {
    await lockOrganizationRow(context.db, request.organizationId);
    await requireUser(request, context, id);
    await removeMember(context, request.organizationId, id);
    await endAccess(context, request.organizationId, id);
  });
}
