/** Names of attempts: for lists of this process, and for the service. */
import type { AttemptRef } from '../connection/connection.ts';
import { attemptFolderName } from './layout.ts';

/** The same for an attempt wherever it is known. */
export function nameOf({ jobId, attempt }: Pick<AttemptRef, 'jobId' | 'attempt'>): string {
  return attemptFolderName(jobId, attempt);
}

/** An attempt in messages to the service. */
export function heldOf({ jobId, attempt, fence }: AttemptRef): AttemptRef {
  return { jobId, attempt, fence };
}
