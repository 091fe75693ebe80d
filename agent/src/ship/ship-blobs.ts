/**
 * Sends what a plan leaves: for its apply the plan file and the packed part of the tree, for approval policies what
 * they are evaluated with.
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { sha256 } from '#protocol/approved.ts';
import type { BlobName } from '#protocol/messages/attempt.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { FinishRest } from '#protocol/messages/outcome.ts';
import { planOnlyTypes } from '#protocol/tools/steps.ts';
import { sizeOf } from '../attempt/run-command.ts';
import type { SpoolPaths } from '../spool/layout.ts';
import { requireOutcome } from '../spool/read-attempt.ts';
import type { Completion } from './completion.ts';

export interface BlobShipment {
  readonly paths: SpoolPaths;
  readonly job: Job;
  readonly completion: Completion;
  readonly signal: AbortSignal;
  readonly send: (name: BlobName, sha256: string, file: string) => Promise<unknown>;
  /** Files of at most this size in total are returned instead of sent. */
  readonly leftBytes: number;
}

type LeftBlob = NonNullable<FinishRest['blobs']>[number];

/**
 * Waits for the attempt's end, then sends.
 * @returns what is left to send
 * @throws what `send` throws, and the signal's reason
 */
export async function shipBlobs(shipment: BlobShipment): Promise<readonly LeftBlob[]> {
  const { paths, job, completion, signal, send, leftBytes } = shipment;
  await reachedOrAborted(completion, signal);
  signal.throwIfAborted();
  if (requireOutcome(paths).result !== 'planned' || planOnlyTypes.includes(job.type)) return [];
  const all = [
    ['plan', paths.outputPlan],
    ['tree', paths.outputTree],
    ['policy-input', paths.outputPolicyInput],
  ] as const;
  const files = all.filter(([, file]) => existsSync(file));
  if (files.reduce((sum, [, file]) => sum + sizeOf(file), 0) <= leftBytes)
    return files.map(([name, file]) => {
      const bytes = readFileSync(file);
      return { name, sha256: sha256(bytes), base64: bytes.toString('base64') };
    });
  await Promise.all(files.map(async ([name, file]) => send(name, await sha256OfFile(file), file)));
  return [];
}

async function reachedOrAborted({ reached }: Completion, signal: AbortSignal): Promise<void> {
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const onAbort = () => resolve();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    if (!signal.aborted) await Promise.race([reached, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function sha256OfFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
