/** The log as it is stored, read page by page: where no stream of events comes through. */
import { queryClient, read } from '../../../api/queries.ts';
import type { LogSession } from './log-session.ts';

/** Position to continue reading: by step, the position of the service and the number of bytes that are here. */
export type StoredPositions = Map<string, { next: string | undefined; bytes: number }>;

const silent = new Set(['NOT_STARTED', 'SKIPPED']);

interface LogReading {
  readonly session: LogSession;
  readonly deploymentId: string;
  readonly positions: StoredPositions;
  readonly signal: AbortSignal;
}

async function readStep(
  { session, deploymentId, positions, signal }: LogReading,
  step: string,
): Promise<void> {
  const position = positions.get(step) ?? { next: undefined, bytes: 0 };
  positions.set(step, position);
  for (let isMore = true; isMore && !signal.aborted; ) {
    const page = await queryClient.fetchQuery({
      ...read('getStepLog', {
        params: { deploymentLogId: deploymentId, name: step },
        query: { startTime: position.next },
      }),
      staleTime: 0,
      gcTime: 0,
    });
    if (signal.aborted) return;
    const text = page.events.map(({ message }) => `${message}\n`).join('');
    const bytes = new TextEncoder().encode(text).length;
    const at = page.events[0]?.timestamp;
    if (bytes > 0) session.appendStored({ step, offset: position.bytes, bytes, text, ...(at ? { at } : {}) });
    position.bytes += bytes;
    position.next = page.nextStartTime;
    isMore = page.hasMoreLogs ?? false;
  }
}

/** Adds what was stored since the last time, of the steps that the deployment has by now. @throws ApiError */
export async function readStoredLog(reading: LogReading): Promise<void> {
  const steps = await queryClient.fetchQuery({
    ...read('listSteps', { params: { deploymentLogId: reading.deploymentId } }),
    staleTime: 0,
  });
  for (const { name, status, completedAt } of steps) {
    if (silent.has(status)) continue;
    await readStep(reading, name);
    if (completedAt !== undefined && !reading.signal.aborted) reading.session.end(name);
  }
}
