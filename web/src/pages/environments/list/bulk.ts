/** Does something to many environments, some at once. */
import fastq from 'fastq';
import type { Environment } from '#contract/environments/shapes.ts';
import { client } from '../../../api/client.ts';
import { isStatus } from '../../../api/errors.ts';
import { randomId } from '../../../api/random-id.ts';
import type { BulkAction } from './fitting.ts';

/** What became of one of them. */
export type ItemState =
  | { readonly state: 'waiting' | 'running' | 'stopped' }
  | { readonly state: 'done'; readonly deploymentId?: string }
  | { readonly state: 'failed'; readonly error: unknown };

/** Sends one. @param text a comment or a reason @returns the deployment that it started */
async function send(action: BulkAction, environment: Environment, text: string): Promise<string | undefined> {
  const params = { id: environment.id };
  const idempotencyKey = randomId();
  const comment = text === '' ? {} : { comment: text };
  const { id: deploymentId = '', planHash } = environment.latestDeploymentLog;
  switch (action) {
    case 'deploy':
      return (await client.call('deployEnvironment', { params, body: comment, idempotencyKey })).id;
    case 'checkDrift':
      return (
        await client.call('deployEnvironment', {
          params,
          body: { deploymentType: 'driftDetection' },
          idempotencyKey,
        })
      ).id;
    case 'destroy':
      return (await client.call('destroyEnvironment', { params, body: comment, idempotencyKey })).id;
    case 'approve':
      await client.call('approveDeployment', {
        params: { id: deploymentId },
        body: planHash === undefined ? {} : { planHash },
        idempotencyKey,
      });
      return deploymentId;
    case 'archive':
      await client.call('updateEnvironment', { params, body: { isArchived: true }, idempotencyKey });
      return undefined;
    default:
      await client.call('setEnvironmentLock', {
        params,
        body: { isLocked: action === 'lock', ...(text === '' ? {} : { reason: text }) },
        idempotencyKey,
      });
      return undefined;
  }
}

const atOnce = 4;

export interface BulkRun {
  readonly action: BulkAction;
  readonly environments: readonly Environment[];
  readonly text: string;
  readonly onState: (id: string, state: ItemState) => void;
  /** What has not begun is left as it is. */
  readonly signal: AbortSignal;
}

/** Does it to all of them, some at once. A session that has ended stops it: the rest was not sent. */
export async function runBulk({ action, environments, text, onState, signal }: BulkRun): Promise<void> {
  let hasEnded = false;
  const queue = fastq.promise(async (environment: Environment) => {
    const { id } = environment;
    if (signal.aborted || hasEnded) return onState(id, { state: 'stopped' });
    onState(id, { state: 'running' });
    try {
      const deploymentId = await send(action, environment, text);
      onState(id, { state: 'done', ...(deploymentId === undefined ? {} : { deploymentId }) });
    } catch (error) {
      hasEnded ||= isStatus(error, 401);
      onState(id, { state: 'failed', error });
    }
  }, atOnce);
  await Promise.all(environments.map((environment) => queue.push(environment)));
}
