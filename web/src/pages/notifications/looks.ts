/** Appearance of statuses of deliveries, and fields of each type of endpoint. */
import type { DeliveryStatus, EndpointType } from '#contract/notifications/events.ts';
import type { StatusLook } from '../../design/status.tsx';

export const deliveryLooks: Readonly<Record<DeliveryStatus, StatusLook>> = {
  waiting: { word: 'Waiting', tone: 'wait', shape: 'clock' },
  delivered: { word: 'Delivered', tone: 'ok', shape: 'check' },
  failed: { word: 'Failed', tone: 'fail', shape: 'cross' },
};

export interface TypeWords {
  readonly label: string;
  readonly valueLabel: string;
  readonly description: string;
  readonly placeholder: string;
}

export const typeWords: Readonly<Record<EndpointType, TypeWords>> = {
  Slack: {
    label: 'Slack',
    valueLabel: 'Address of the incoming webhook',
    description: 'Stored encrypted: with it, anybody can post in the channel.',
    placeholder: 'https://hooks.slack.com/services/…',
  },
  Teams: {
    label: 'Microsoft Teams',
    valueLabel: 'Address of the workflow',
    description: 'Of a workflow for "When a Teams webhook request is received". It is stored encrypted.',
    placeholder: 'https://…',
  },
  Email: {
    label: 'E-mail',
    valueLabel: 'Recipients',
    description:
      'Separated by commas. $ENVIRONMENT_CREATOR$ and $DEPLOYER$ stand for the people of each event.',
    placeholder: 'team@example.com, $DEPLOYER$',
  },
  Webhook: {
    label: 'Webhook',
    valueLabel: 'Address',
    description: 'Receives each event as a CloudEvent by POST.',
    placeholder: 'https://hooks.example.com/envarium',
  },
};
