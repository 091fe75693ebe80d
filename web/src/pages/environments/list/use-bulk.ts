/** A bulk action from the question to its report. */
import { useQueries, useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { Environment } from '#contract/environments/shapes.ts';
import type { Right } from '#contract/schema/rights.ts';
import { read, refresh } from '../../../api/queries.ts';
import { useRights } from '../../../api/rights.ts';
import { isStatus } from '../../../api/errors.ts';
import { noteSessionEnd } from '../../../api/session-end.ts';
import { type ItemState, runBulk } from './bulk.ts';
import { type BulkAction, bulkLooks, whyUnfit } from './fitting.ts';

export interface BulkItem {
  readonly environment: Environment;
  /** Why it is left out. */
  readonly unfit: string | undefined;
}

export interface Sorted {
  /** Whether the rights are known: until then nothing is sent. */
  readonly isKnown: boolean;
  readonly items: readonly BulkItem[];
}

/** Which of the environments an action fits, by their life cycle and by the person's rights on each. */
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

/** Runs an action, and keeps what became of each. */
export function useBulkRun(action: BulkAction) {
  const [states, setStates] = useState<ReadonlyMap<string, ItemState>>(new Map());
  const stopping = useRef<AbortController>(undefined);
  const run = useMutation({
    mutationFn: async (sent: { environments: readonly Environment[]; text: string }) => {
      stopping.current = new AbortController();
      setStates(new Map(sent.environments.map(({ id }) => [id, { state: 'waiting' }])));
      await runBulk({
        ...sent,
        action,
        signal: stopping.current.signal,
        onState: (id, state) => {
          if (state.state === 'failed' && isStatus(state.error, 401)) noteSessionEnd();
          setStates((before) => new Map(before).set(id, state));
        },
      });
      await refresh(['listEnvironments', 'getEnvironment', 'listDeployments', 'getDeployment']);
    },
  });
  return { states, run, stop: () => stopping.current?.abort() };
}
