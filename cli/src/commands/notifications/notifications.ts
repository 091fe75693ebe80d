/** `notifications`: who hears of what, and what was sent. */
import type { Command } from 'commander';
import { addAssignmentCommands } from './assignments.ts';
import { addDeliveryCommands } from './deliveries.ts';
import { addEndpointCommands } from './endpoints.ts';

export function addNotificationCommands(program: Command): void {
  const group = program
    .command('notifications')
    .description('endpoints that receive events, and deliveries to them');
  addEndpointCommands(group);
  addAssignmentCommands(group);
  addDeliveryCommands(group);
}
