/** Files that go from a plan to its apply: sealed, stored before the outcome that refers to them. */
import type { Readable } from 'node:stream';
import type { Context } from '../../../framework/context.ts';
import { promiseEffect } from '../../../framework/effects/effect-kind.ts';
import { removeBlobs } from '../../../framework/effects/remove-blobs.ts';
import { beginReading } from '../../../ground/blobs/begin-reading.ts';
import type { BlobRef } from '../../../ground/blobs/blob-store.ts';
import { inTransaction } from '../../../ground/database/transaction.ts';
import { orNotFound, Refusal } from '../../../ground/errors.ts';
import { getDeploymentRow } from '../../../rows/deployments/deployment-store.ts';
import {
  addAttemptBlob,
  getAttemptBlob,
  getPlannedBlob,
  putAttemptBlob,
} from '../../../rows/dispatch/attempt-blob-store.ts';
import type { AttemptInPlace } from '../../../rows/dispatch/call-store.ts';
import { getSourceRow } from '../../../rows/sources/source-store.ts';

/** Sending it twice stores it once. @param sha256 of the content, as the agent has it */
export async function putBlob(
  context: Context,
  { attempt }: AttemptInPlace,
  name: string,
  content: AsyncIterable<Buffer>,
  sha256: string | undefined,
): Promise<void> {
  const blob = await context.blobs.putOrInline(
    ['runs', attempt.job_id, String(attempt.number), name],
    content,
  );
  if (sha256 !== undefined && sha256 !== blob.sha256) {
    if (blob.sealed === undefined) await context.blobs.remove(blob);
    throw new Refusal('bad_request', '/query/sha256 does not match the body: send it again');
  }
  if (await addAttemptBlob(context.db, attempt, name, blob)) return;
  await inTransaction(context, async (context) => {
    const before = await getAttemptBlob(context.db, attempt, name);
    await putAttemptBlob(context.db, attempt, name, blob);
    if (before && before.sealed === undefined)
      await promiseEffect(context, removeBlobs, { ids: [before.id] });
  });
}

/** The code that a person uploaded for the deployment. */
async function sourceBlob(context: Context, deploymentId: string): Promise<BlobRef | undefined> {
  const sourceId = (await getDeploymentRow(context.db, deploymentId))?.source_id;
  return (sourceId && (await getSourceRow(context.db, sourceId))?.blob) || undefined;
}

/** An apply gets the files of its plan phase, from the attempt that succeeded. */
export async function getBlob(context: Context, { job }: AttemptInPlace, name: string): Promise<Readable> {
  if (name === 'source') {
    const source = orNotFound(await sourceBlob(context, job.deployment_id), 'blob', name);
    return beginReading(context.blobs.get(source), 'The uploaded code');
  }
  const blob = orNotFound(await getPlannedBlob(context.db, job.deployment_id, name), 'blob', name);
  return beginReading(context.blobs.get(blob), `The ${name} of the plan phase`);
}
