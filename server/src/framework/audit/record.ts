/** Appends to the audit trail, in the transaction of the change that it records, and publishes it to readers. */
import type { ChangedEntity } from '#contract/feeds/shapes.ts';
import { afterCommit } from '../../ground/database/transaction.ts';
import { insertAuditEvent } from '../../rows/audit/audit-store.ts';
import type { EnvironmentRow } from '../../rows/environments/environment-store.ts';
import { type OrganizationChange, recordChange } from '../../rows/feeds/organization-news-store.ts';
import { systemUserId } from '../../rows/users/user-store.ts';
import type { ActorContext, Context } from '../context.ts';
import { entryMac } from './audit-content.ts';

/** By entity of the entry. Environments and deployments have events of their own. */
const changedByEntity: Readonly<Record<string, ChangedEntity>> = {
  organization: 'organization',
  project: 'project',
  template: 'template',
  configurationSet: 'configurationSet',
  credential: 'credential',
  gitToken: 'gitToken',
  sshKey: 'sshKey',
  vcsConnection: 'vcsConnection',
  module: 'module',
  provider: 'provider',
  gpgKey: 'gpgKey',
  customFlow: 'customFlow',
  approvalPolicy: 'approvalPolicy',
  team: 'team',
  role: 'role',
  roleAssignment: 'roleAssignment',
  user: 'member',
  invitation: 'invitation',
  apiKey: 'apiKey',
  scimToken: 'scimToken',
  agent: 'agent',
  notificationEndpoint: 'notificationEndpoint',
  discovery: 'discovery',
};

/** By action, whatever the entity. */
const changedByAction: Readonly<Record<string, ChangedEntity>> = {
  'variables.changed': 'variable',
  'state.written': 'state',
  'state.imported': 'state',
  'state.rescued': 'state',
  'state.rolledBack': 'state',
  'state.promoted': 'state',
  'state.versionDeleted': 'state',
  'state.cleared': 'state',
  'state.locked': 'state',
  'state.unlocked': 'state',
  'state.lockFreed': 'state',
  'state.accessChanged': 'state',
};

/** @returns undefined for what no list shows, and for what belongs to no organization */
function changeOf(entry: AuditEntry): OrganizationChange | undefined {
  const { organizationId, projectId = null, entityId: id, details = {} } = entry;
  const entity = changedByAction[entry.action] ?? changedByEntity[entityOf(entry)];
  if (organizationId === null || entity === undefined) return undefined;
  const assignedIn = details['environmentId'];
  const environmentId =
    entityOf(entry) === 'environment' ? id : typeof assignedIn === 'string' ? assignedIn : null;
  return { organizationId, projectId, environmentId, entity, id };
}

/** Lets pages that are open show a change: what the audit trail records of lists, readers of the organization hear. */
async function publishChange(
  context: Pick<Context, 'db' | 'events' | 'now'>,
  entry: AuditEntry,
): Promise<void> {
  const change = changeOf(entry);
  if (change) await recordChange(context, change);
}

export interface AuditEntry {
  readonly organizationId: string | null;
  readonly projectId?: string | null;
  /** Action, such as `deployment.approved`. */
  readonly action: string;
  /** Default: the word before the dot of the action. */
  readonly entity?: string;
  readonly entityId: string;
  /** Never a secret. */
  readonly details?: Record<string, unknown>;
  /** Views before and after: see `changesOf`. Secrets only as fingerprints. */
  readonly before?: Record<string, unknown>;
  readonly after?: Record<string, unknown>;
}

function entityOf({ action, entity }: AuditEntry): string {
  return entity ?? action.replace(/\..*/, '');
}

/** Actor, and the request. */
export interface AuditedBy {
  readonly actorId: string;
  readonly keyId?: string | null;
  readonly address?: string | null;
  readonly requestId: string | null;
}

type StoreContext = Pick<Context, 'db' | 'now' | 'newId' | 'auditKeys'>;
type AuditContext = StoreContext &
  Pick<ActorContext, 'actor' | 'requestId' | 'log' | 'events'> & { readonly address?: string };

/** Stores an entry without logging it: for loops, which record what others did, or the service itself. */
export async function storeAudit(
  { db, now, newId, auditKeys }: StoreContext,
  entry: AuditEntry,
  by: AuditedBy = { actorId: systemUserId, requestId: null },
): Promise<void> {
  const row = {
    id: newId(),
    at: now(),
    organization_id: entry.organizationId,
    project_id: entry.projectId ?? null,
    actor_id: by.actorId,
    key_id: by.keyId ?? null,
    address: by.address ?? null,
    action: entry.action,
    entity: entityOf(entry),
    entity_id: entry.entityId,
    request_id: by.requestId,
    details: entry.details ?? {},
    before: entry.before ?? null,
    after: entry.after ?? null,
  };
  await insertAuditEvent(db, row, entryMac(auditKeys.mac, row));
}

/** Tells readers of the change, and logs the entry once it is stored. */
export async function recordAudit(context: AuditContext, entry: AuditEntry): Promise<void> {
  const { actor, requestId, address = null } = context;
  const { userId, name: userName } = actor;
  const { keyId } = actor;
  await storeAudit(context, entry, { actorId: userId, keyId, address, requestId });
  await publishChange(context, entry);
  const { action, entityId } = entry;
  const fields = { action, entity: entityOf(entry), entityId, userId, userName, requestId };
  afterCommit(context.db, () => context.log.info(fields, 'audit entry recorded'));
}

/** The entry of what was done to an environment, or to the state that belongs to it. */
export async function recordEnvironmentAudit(
  context: AuditContext,
  environment: Pick<EnvironmentRow, 'id' | 'organization_id' | 'project_id'>,
  action: string,
  details?: AuditEntry['details'],
  changes: Pick<AuditEntry, 'before' | 'after'> = {},
): Promise<void> {
  await recordAudit(context, {
    organizationId: environment.organization_id,
    projectId: environment.project_id,
    action,
    entity: 'environment',
    entityId: environment.id,
    ...(details ? { details } : {}),
    ...changes,
  });
}
