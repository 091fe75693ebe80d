/** Requests that do something to many environments. */
import type { BulkOperation } from '#contract/bulk-operations/shapes.ts';
import { client } from '../../../api/client.ts';
import { randomId } from '../../../api/random-id.ts';
import { type BulkTarget, planHashesOf } from './bulk-parts.ts';
import type { BulkAction } from './fitting.ts';

/**
 * Sends an action for environments, at most as many as one bulk operation can have.
 * @param text a comment or a reason; empty: none
 * @returns the operation, which the service carries out
 */
export function startBulk(
  action: BulkAction,
  organizationId: string,
  environments: readonly BulkTarget[],
  text: string,
): Promise<BulkOperation> {
  const targets = { organizationId, environmentIds: environments.map(({ id }) => id) };
  const idempotencyKey = randomId();
  const comment = text === '' ? {} : { comment: text };
  switch (action) {
    case 'deploy':
      return client.call('bulkDeploy', { body: { ...targets, data: comment }, idempotencyKey });
    case 'checkDrift': {
      const data = { deploymentType: 'driftDetection' } as const;
      return client.call('bulkDeploy', { body: { ...targets, data }, idempotencyKey });
    }
    case 'destroy':
      return client.call('bulkDestroy', { body: { ...targets, data: comment }, idempotencyKey });
    case 'approve': {
      const data = { planHashes: planHashesOf(environments) };
      return client.call('bulkApprove', { body: { ...targets, data }, idempotencyKey });
    }
    case 'lock': {
      const data = text === '' ? {} : { reason: text };
      return client.call('bulkLock', { body: { ...targets, data }, idempotencyKey });
    }
    case 'unlock':
      return client.call('bulkUnlock', { body: targets, idempotencyKey });
    default:
      return client.call('bulkArchive', { body: targets, idempotencyKey });
  }
}
