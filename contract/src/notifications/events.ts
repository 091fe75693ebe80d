/** The events that endpoints can hear of: a closed list, apart from the schemas so that pages can load it. */

export const notificationEvents = [
  'environmentDeployStarted',
  'environmentDestroyStarted',
  'deploySucceeded',
  'destroySucceeded',
  'deployFailed',
  'destroyFailed',
  'deploymentWaitingForUser',
  'deploymentCancelled',
  'environmentDeployResumed',
  'environmentDestroyResumed',
  'environmentMarkedForAutoDestroy',
  'environmentAutoDestroyRetried',
  'driftDetected',
  'driftUndetected',
  'driftFailed',
  'budgetExceeded',
  'environmentDiscoveryFailed',
  'environmentDiscoveryWaitingForUser',
] as const;
export type NotificationEvent = (typeof notificationEvents)[number];

/** Descriptions of each event for people. */
export const notificationEventWords: Readonly<Record<NotificationEvent, string>> = {
  environmentDeployStarted: 'Deploy started',
  environmentDestroyStarted: 'Destroy started',
  deploySucceeded: 'Deploy succeeded',
  destroySucceeded: 'Destroy succeeded',
  deployFailed: 'Deploy failed',
  destroyFailed: 'Destroy failed',
  deploymentWaitingForUser: 'Deployment waits for approval',
  deploymentCancelled: 'Deployment cancelled',
  environmentDeployResumed: 'Deploy approved and resumed',
  environmentDestroyResumed: 'Destroy approved and resumed',
  environmentMarkedForAutoDestroy: 'Environment will be destroyed soon',
  environmentAutoDestroyRetried: 'Destroy at the end of the lifetime is tried again',
  driftDetected: 'Drift detected',
  driftUndetected: 'Drift is gone',
  driftFailed: 'Drift detection failed',
  budgetExceeded: 'Budget exceeded',
  environmentDiscoveryFailed: 'Environment discovery failed',
  environmentDiscoveryWaitingForUser: 'Environment discovery waits for a decision',
};

export const endpointTypes = ['Slack', 'Teams', 'Email', 'Webhook'] as const;
export type EndpointType = (typeof endpointTypes)[number];

export const deliveryStatuses = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** Names of failed attempts. */
export const deliveryErrorTypes = ['timeout', 'ssl-error', 'unknown'] as const;
