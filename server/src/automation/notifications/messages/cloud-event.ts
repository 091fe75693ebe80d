/** The body of a webhook: a CloudEvent. Pure. */
import type { NotificationEvent } from '#contract/notifications/events.ts';
import type { Notification } from './notification.ts';

/** Group and verb, where they do not depend on the type of the deployment. */
const fixedTypes: Readonly<Partial<Record<NotificationEvent, string>>> = {
  environmentDeployStarted: 'deploy.started',
  environmentDestroyStarted: 'destroy.started',
  deploySucceeded: 'deploy.succeeded',
  destroySucceeded: 'destroy.succeeded',
  deployFailed: 'deploy.failed',
  destroyFailed: 'destroy.failed',
  environmentDeployResumed: 'deploy.resumed',
  environmentDestroyResumed: 'destroy.resumed',
  environmentMarkedForAutoDestroy: 'environment.marked',
  environmentAutoDestroyRetried: 'destroy.retried',
  driftDetected: 'drift.detected',
  driftUndetected: 'drift.undetected',
  driftFailed: 'drift.failed',
  budgetExceeded: 'budget.exceeded',
  environmentDiscoveryFailed: 'discovery.failed',
  environmentDiscoveryWaitingForUser: 'discovery.waiting',
};

const verbs: Readonly<Partial<Record<NotificationEvent, string>>> = {
  deploymentWaitingForUser: 'waiting',
  deploymentCancelled: 'cancelled',
};

/** The type of the CloudEvent. */
export function cloudEventType({ event, facts }: Pick<Notification, 'event' | 'facts'>): string {
  if (event === null) return 'com.envarium.webhook.test';
  const group = facts?.deployment?.type === 'destroy' ? 'destroy' : 'deploy';
  return `com.envarium.${fixedTypes[event] ?? `${group}.${verbs[event] ?? event}`}`;
}

/** Absent values are null, never left out. */
export function cloudEventOf(notification: Notification) {
  const { facts, organization, project, blueprint, link } = notification;
  const environment = facts?.environment ?? null;
  const deployment = facts?.deployment ?? null;
  return {
    specversion: '1.0',
    type: cloudEventType(notification),
    source: 'https://envarium.com',
    id: notification.eventId,
    time: notification.time.toISOString(),
    datacontenttype: 'application/json',
    data: {
      environment: environment && {
        ...environment,
        lifetime: facts?.lifetime ?? null,
        createdByName: notification.creator?.name ?? null,
      },
      organization,
      project,
      deploymentLog: deployment && {
        ...deployment,
        reviewers: notification.reviewers,
        startedByName: notification.deployer?.name ?? null,
      },
      discovery: facts?.discovery ?? null,
      blueprint: blueprint && { ...blueprint, retry: {} },
      gitRevision: deployment?.commitHash ?? deployment?.blueprintRevision ?? null,
      link,
    },
  };
}
