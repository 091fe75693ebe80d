/** Lets pages that are open show a change: what the audit trail records of lists, readers of the organization hear. */
import type { ChangedEntity } from '#contract/feeds/shapes.ts';
import { type OrganizationChange, recordChange } from '../../rows/feeds/organization-news-store.ts';
import type { Context } from '../context.ts';

/** The part of an entry that readers can hear of. */
interface ReportedEntry {
  readonly organizationId: string | null;
  readonly projectId?: string | null;
  readonly action: string;
  readonly entity: string;
  readonly entityId: string;
  readonly details?: Record<string, unknown>;
}

/** By entity of the entry. Environments and deployments have events of their own. */
const toldAs: Readonly<Record<string, ChangedEntity>> = {
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
};

/** By action, whatever the entity. */
const toldByAction: Readonly<Record<string, ChangedEntity>> = {
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
function changeOf(entry: ReportedEntry): OrganizationChange | undefined {
  const { organizationId, projectId = null, entityId: id, details = {} } = entry;
  const entity = toldByAction[entry.action] ?? toldAs[entry.entity];
  if (organizationId === null || entity === undefined) return undefined;
  const assignedIn = details['environmentId'];
  const environmentId =
    entry.entity === 'environment' ? id : typeof assignedIn === 'string' ? assignedIn : null;
  return { organizationId, projectId, environmentId, entity, id };
}

export async function publishChange(
  context: Pick<Context, 'db' | 'events' | 'now'>,
  entry: ReportedEntry,
): Promise<void> {
  const change = changeOf(entry);
  if (change) await recordChange(context, change);
}
