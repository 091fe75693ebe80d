/** Events of an organization that a reader gets. */
import type { ChangedEntity, OrganizationChangeEvent } from '#contract/feeds/shapes.ts';
import type { Right } from '#contract/schema/enumerations.ts';
import { viewRightAt } from '../../framework/access/access.ts';
import type { Actor } from '../../framework/access/actor.ts';
import type { FeedEvent } from './organization-feed.ts';

export interface FeedReader {
  readonly organizationId: string;
  /** Only this project. */
  readonly projectId: string | undefined;
}

/** Rights for lists of these, if more than the right to see the place is needed. */
const rightsToList: Partial<Record<ChangedEntity, Right>> = {
  invitation: 'EDIT_ORGANIZATION_SETTINGS',
  apiKey: 'EDIT_ORGANIZATION_SETTINGS',
  scimToken: 'EDIT_ORGANIZATION_SETTINGS',
  module: 'VIEW_MODULES',
  provider: 'VIEW_PROVIDERS',
  gpgKey: 'VIEW_PROVIDERS',
  auditTrail: 'VIEW_AUDIT_LOGS',
};

/** Whether the reader may see what an event is about, and requested it. */
export function maySee(actor: Actor, reader: FeedReader, event: FeedEvent): boolean {
  return event.name === 'changed' ? maySeeChange(actor, reader, event) : maySeeRun(actor, reader, event);
}

function maySeeChange({ access }: Actor, reader: FeedReader, event: FeedEvent): boolean {
  const { organizationId } = reader;
  const { projectId } = event;
  const { entity, environmentId = null } = event.data as OrganizationChangeEvent;
  const needs = rightsToList[entity] ?? (environmentId ? 'VIEW_ENVIRONMENT' : viewRightAt({ projectId }));
  if (!access.has(needs, { organizationId, projectId, environmentId })) return false;
  return reader.projectId === undefined || projectId === reader.projectId;
}

function maySeeRun({ access }: Actor, { organizationId, projectId }: FeedReader, event: FeedEvent): boolean {
  const { environmentId } = event.data as { environmentId: string };
  const from = fromProject(event);
  const projectIds = [event.projectId, ...(typeof from === 'string' ? [from] : [])];
  const isVisible = projectIds.some((each) =>
    access.has('VIEW_ENVIRONMENT', { organizationId, projectId: each, environmentId }),
  );
  if (!isVisible) return false;
  return projectId === undefined || event.projectId === projectId || fromProject(event) === projectId;
}

/** Readers of the project that an environment has left hear of that, too. */
function fromProject(event: FeedEvent): unknown {
  return event.name === 'environment' ? (event.data as { fromProjectId?: unknown }).fromProjectId : undefined;
}
