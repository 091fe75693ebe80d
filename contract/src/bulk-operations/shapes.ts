/** The same operation on several environments. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { Instant, Name, replyObject, Text } from '../schema/schema.ts';

export const bulkKinds = [
  'deploy',
  'destroy',
  'run-task',
  'approve',
  'cancel',
  'cancel-queued-deployments',
  'lock',
  'unlock',
  'archive',
] as const;
export type BulkKind = (typeof bulkKinds)[number];

export const bulkItemStatuses = ['pending', 'success', 'failed'] as const;
export type BulkItemStatus = (typeof bulkItemStatuses)[number];

/** Maximum number of environments in one bulk operation. */
export const mostBulkItems = 500;

export const BulkItem = replyObject('BulkItem', {
  environmentId: Text,
  environmentName: Type.Optional(
    Type.String({
      description: 'Absent if the environment has been deleted since, or the caller may not view it',
    }),
  ),
  status: oneOf(
    bulkItemStatuses,
    '`success`: accepted as if it had been requested for this environment alone; a deployment that was started ' +
      'may still fail. `pending`: not carried out yet',
  ),
  error: Type.Optional(Type.String({ description: 'Why it `failed`: what the single operation answers' })),
  deploymentId: Type.Optional(
    Type.String({ description: 'The deployment that was started, approved or cancelled' }),
  ),
});
export type BulkItem = Static<typeof BulkItem>;

export const BulkOperation = replyObject('BulkOperation', {
  id: Name,
  organizationId: Name,
  operation: oneOf(bulkKinds),
  createdBy: Text,
  createdAt: Instant,
  finishedAt: Type.Optional(
    Type.String({ format: 'date-time', description: 'Absent while items are pending' }),
  ),
  data: Type.Array(BulkItem, { description: 'One per environment, in the order of the request' }),
});
export type BulkOperation = Static<typeof BulkOperation>;
