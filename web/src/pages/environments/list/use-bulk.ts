/** A bulk action from the question to its report. */
import { useMutation, useQueries } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type BulkOperation, mostBulkItems } from '#contract/bulk-operations/shapes.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import type { Right } from '#contract/schema/rights.ts';
import { client } from '../../../api/client.ts';
import { read, refresh } from '../../../api/queries.ts';
import { randomId } from '../../../api/random-id.ts';
import { useRights } from '../../../api/rights.ts';
import { type BulkTarget, partsOf, planHashesOf } from './bulk-parts.ts';
import { progressOf } from './bulk-progress.ts';
import { type BulkAction, bulkLooks, whyUnfit } from './fitting.ts';

/**
 * Sends an action for environments, at most as many as one bulk operation can have.
 * @param text a comment or a reason; empty: none
 * @returns the operation, which the service carries out
 */
function startBulk(
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

export interface BulkChoice {
  readonly environment: Environment;
  /** Why it is left out. */
  readonly unfit: string | undefined;
}

export interface Sorted {
  /** Whether the rights are known: until then nothing is sent. */
  readonly isKnown: boolean;
  readonly items: readonly BulkChoice[];
}

/** Environments that an action fits, by their life cycle and by the person's rights on each. */
export function useFitting(
  organizationId: string,
  action: BulkAction,
  environments: readonly Environment[],
): Sorted {
  const everywhere = useRights({ organizationId });
  const mayAll = bulkLooks[action].rights.every((right) => everywhere.has(right));
  const unclear = everywhere.isKnown && !mayAll ? environments : [];
  const answers = useQueries({
    queries: unclear.map(({ id }) => ({
      ...read('explainPermissions', { query: { environmentId: id } }),
      staleTime: 60_000,
    })),
  });
  const hasOn = (at: number) => (right: Right) =>
    mayAll ? true : answers[at]?.data?.rights.some((each) => each.right === right);
  return {
    isKnown: everywhere.isKnown && answers.every(({ isPending }) => !isPending),
    items: environments.map((environment, at) => ({
      environment,
      unfit: whyUnfit(action, environment, hasOn(at)),
    })),
  };
}

const pauseMilliseconds = 500;
const concerned = ['listEnvironments', 'getEnvironment', 'listDeployments', 'getDeployment'] as const;

/** Sends an action, and follows what the service does to each environment; it continues without followers. */
export function useBulkRun(action: BulkAction, organizationId: string) {
  const [started, setStarted] = useState<readonly BulkOperation[]>([]);
  const send = useMutation({
    mutationFn: async ({ environments, text }: { environments: readonly Environment[]; text: string }) => {
      for (const part of partsOf(environments, mostBulkItems)) {
        const operation = await startBulk(action, organizationId, part, text);
        setStarted((before) => [...before, operation]);
      }
    },
  });
  const answers = useQueries({
    queries: started.map((operation) => ({
      ...read('getBulkOperation', { params: { id: operation.id } }),
      initialData: operation,
      refetchInterval: ({
        state,
      }: {
        state: { data?: BulkOperation | undefined; status: 'pending' | 'success' | 'error' };
      }) =>
        state.data?.finishedAt === undefined && state.status !== 'error'
          ? pauseMilliseconds
          : (false as const),
    })),
  });
  const progress = progressOf(
    send.status,
    answers.map(({ data, error }) => ({ operation: data, error })),
  );
  const { isOver } = progress;
  useEffect(() => {
    if (isOver) void refresh(concerned);
  }, [isOver]);
  return { send, progress };
}
