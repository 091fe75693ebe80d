/** Progress of a bulk action, from the sent requests and the state of the operations that they started. */
import type { BulkItem, BulkItemStatus, BulkOperation } from '#contract/bulk-operations/shapes.ts';

/** Progress of the requests that start the operations. */
export type SendStatus = 'idle' | 'pending' | 'success' | 'error';

/** An operation that was started. */
export interface StartedOperation {
  readonly operation: Pick<BulkOperation, 'data' | 'finishedAt'>;
  /** Why it is not read any more. */
  readonly error: Error | null;
}

/** The result for an environment. `unknown`: the service continues, but its results cannot be read. */
export type BulkOutcome = BulkItemStatus | 'fits' | 'notSent' | 'unknown';

export interface BulkProgress {
  readonly results: ReadonlyMap<string, BulkItem>;
  readonly outcomeOf: (environmentId: string) => BulkOutcome;
  /** Parts of it were sent, and others still are to be. */
  readonly isPartlySent: boolean;
  /** Whatever was sent continues without this page, and nothing else is going to be sent. */
  readonly isContinuing: boolean;
  /** Nothing that was started changes any more, as far as it can be read. */
  readonly isOver: boolean;
  /** Why the results of an operation cannot be read. */
  readonly error: Error | null;
}

const withoutOperation: Readonly<Record<SendStatus, BulkOutcome>> = {
  idle: 'fits',
  pending: 'pending',
  success: 'notSent',
  error: 'notSent',
};

export function progressOf(sending: SendStatus, operations: readonly StartedOperation[]): BulkProgress {
  const results = new Map<string, BulkItem>();
  const unread = new Set<string>();
  for (const { operation, error } of operations)
    for (const item of operation.data) {
      results.set(item.environmentId, item);
      if (error !== null && item.status === 'pending') unread.add(item.environmentId);
    }
  const isSent = sending === 'success' || sending === 'error';
  return {
    results,
    outcomeOf: (id) => (unread.has(id) ? 'unknown' : (results.get(id)?.status ?? withoutOperation[sending])),
    isPartlySent: sending === 'pending' && operations.length > 0,
    isContinuing: isSent && operations.some(({ operation }) => operation.finishedAt === undefined),
    isOver:
      isSent &&
      operations.length > 0 &&
      operations.every(({ operation, error }) => operation.finishedAt !== undefined || error !== null),
    error: operations.find(({ error }) => error !== null)?.error ?? null,
  };
}

/** @returns such as "2 done, 1 failed, 3 not sent" */
export function progressText(outcomes: readonly BulkOutcome[]): string {
  const count = (outcome: BulkOutcome) => outcomes.filter((each) => each === outcome).length;
  const parts: readonly (readonly [number, string])[] = [
    [count('failed'), 'failed'],
    [count('pending') + count('fits'), 'to go'],
    [count('unknown'), 'unknown'],
    [count('notSent'), 'not sent'],
  ];
  const others = parts.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`);
  return [`${count('success')} done`, ...others].join(', ');
}
