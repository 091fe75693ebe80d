/** One event as all kinds of messages are made from it: the stored facts, and the names of what they mention. */
import type { NotificationEvent } from '#contract/notifications/events.ts';
import type { Connection, Context } from '../../../framework/context.ts';
import { listReviews } from '../../../rows/deployments/review-store.ts';
import type { DeliveryRow } from '../../../rows/notifications/delivery-store.ts';
import type { EventFacts } from '../../../rows/notifications/stored-facts.ts';
import { getOrganizationRow } from '../../../rows/organizations/organization-store.ts';
import { getProjectRow } from '../../../rows/projects/project-store.ts';
import { getTemplateRow } from '../../../rows/templates/template-store.ts';
import { getUsers, type UserRow } from '../../../rows/users/user-store.ts';

export interface Notification {
  /** Null: a test. */
  readonly event: NotificationEvent | null;
  readonly eventId: string;
  readonly time: Date;
  readonly facts: EventFacts | null;
  readonly organization: { readonly id: string; readonly name: string } | null;
  readonly project: {
    readonly id: string;
    readonly name: string;
    readonly hierarchy: string;
    readonly parentProjectId: string | null;
  } | null;
  readonly blueprint: {
    readonly id: string;
    readonly name: string;
    readonly type: string;
    readonly repository: string;
  } | null;
  readonly creator: UserRow | null;
  readonly deployer: UserRow | null;
  /** Ids of the users who approved the plan. */
  readonly reviewers: readonly string[];
  /** Page of the deployment, the environment or the discovery; null where the service does not know its own address. */
  readonly link: string | null;
}

function linkTo({ settings }: Pick<Context, 'settings'>, facts: EventFacts): string | null {
  if (settings.baseUrl === undefined) return null;
  const { environment, deployment, discovery } = facts;
  if (deployment) return `${settings.baseUrl}/deployments/${deployment.id}`;
  if (environment) return `${settings.baseUrl}/environments/${environment.id}`;
  return discovery && `${settings.baseUrl}/projects/${discovery.projectId}?tab=discovery`;
}

async function namedOrganization(db: Connection, organizationId: string) {
  const row = await getOrganizationRow(db, organizationId);
  return row ? { id: row.id, name: row.name } : null;
}

/** Content of a delivery, with current names. */
export async function notificationOf(
  context: Pick<Context, 'db' | 'settings'>,
  row: DeliveryRow,
): Promise<Notification> {
  const { db } = context;
  const { facts } = row;
  const { environment, deployment } = facts;
  const templateId = deployment?.blueprintId ?? environment?.blueprintId;
  const [organization, project, template, users, reviews] = await Promise.all([
    namedOrganization(db, row.organization_id),
    getProjectRow(db, row.project_id),
    templateId === undefined ? undefined : getTemplateRow(db, templateId),
    getUsers(
      db,
      [environment?.userId, deployment?.startedBy].filter((id) => id !== undefined),
    ),
    listReviews(db, deployment ? [deployment.id] : []),
  ]);
  return {
    event: row.event_name,
    eventId: row.event_id,
    time: row.created_at,
    facts,
    organization,
    project: project
      ? {
          id: project.id,
          name: project.name,
          hierarchy: project.hierarchy,
          parentProjectId: project.parent_project_id,
        }
      : null,
    blueprint: template
      ? { id: template.id, name: template.name, type: template.type, repository: template.repository }
      : null,
    creator: (environment && users.get(environment.userId)) ?? null,
    deployer: (deployment && users.get(deployment.startedBy)) ?? null,
    reviewers: reviews.filter(({ action }) => action === 'approved').map((review) => review.user_id),
    link: linkTo(context, facts),
  };
}

/** The message of the test button. */
export async function testNotification(
  context: Pick<Context, 'db' | 'newId' | 'now'>,
  organizationId: string,
): Promise<Notification> {
  return {
    event: null,
    eventId: context.newId(),
    time: context.now(),
    facts: null,
    organization: await namedOrganization(context.db, organizationId),
    project: null,
    blueprint: null,
    creator: null,
    deployer: null,
    reviewers: [],
    link: null,
  };
}
