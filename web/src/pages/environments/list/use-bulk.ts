/** A bulk action from the question to its report. */
import { useMutation, useQueries } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type BulkOperation, mostBulkItems } from '#contract/bulk-operations/shapes.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import type { Right } from '#contract/schema/rights.ts';
import { read, refresh } from '../../../api/queries.ts';
import { useRights } from '../../../api/rights.ts';
import { startBulk } from './bulk.ts';
import { partsOf } from './bulk-parts.ts';
import { progressOf } from './bulk-progress.ts';
import { type BulkAction, bulkLooks, whyUnfit } from './fitting.ts';

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
  const asked = everywhere.isKnown && !mayAll ? environments : [];
  const answers = useQueries({
    queries: asked.map(({ id }) => ({
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
