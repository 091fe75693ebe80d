/** Sends what a plan keeps for its apply: the plan file, and the packed part of the tree. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { BlobName } from '#protocol/messages/attempt.ts';
import type { Job } from '#protocol/messages/job.ts';
import { planOnlyTypes } from '#protocol/tools/steps.ts';
import type { SpoolPaths } from '../spool/layout.ts';
import { requireOutcome } from '../spool/read-attempt.ts';
import type { Completion } from './completion.ts';

export interface BlobShipment {
  readonly paths: SpoolPaths;
  readonly job: Job;
  readonly completion: Completion;
  readonly signal: AbortSignal;
  readonly send: (name: BlobName, sha256: string, file: string) => Promise<void>;
}

/**
 * Waits for the attempt's end, then sends.
 * @throws what `send` throws, and the signal's reason
 */
export async function shipBlobs({ paths, job, completion, signal, send }: BlobShipment): Promise<void> {
  await Promise.race([completion.reached, aborted(signal)]);
  signal.throwIfAborted();
  if (requireOutcome(paths).result !== 'planned' || planOnlyTypes.includes(job.type)) return;
  const files: readonly (readonly [BlobName, string])[] = [
    ['plan', paths.outputPlan],
    ['tree', paths.outputTree],
  ];
  await Promise.all(
    files
      .filter(([, file]) => existsSync(file))
      .map(async ([name, file]) => send(name, await sha256OfFile(file), file)),
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

async function sha256OfFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
