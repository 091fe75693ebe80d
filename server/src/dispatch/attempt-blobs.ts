/** What travels from a plan to its apply: sealed, stored before the outcome that speaks of it. */
import type { Readable } from 'node:stream';
import { inTransaction } from '../database/transaction.ts';
import { promiseEffect } from '../effects/effect-kind.ts';
import { removeBlobs } from '../effects/remove-blobs.ts';
import { beginReading } from '../http/begin-reading.ts';
import type { BlobRef } from '../blobs/blob-store.ts';
import type { Context } from '../context.ts';
import { notFound, Refusal } from '../http/errors.ts';
import type { AttemptInPlace } from './attempt-store.ts';

async function storedBlob(
  context: Context,
  jobId: string,
  attempt: number,
  name: string,
): Promise<BlobRef | undefined> {
  const row = await context.db
    .selectFrom('attempt_blob')
    .select('blob')
    .where('job_id', '=', jobId)
    .where('attempt', '=', attempt)
    .where('name', '=', name)
    .executeTakeFirst();
  return row?.blob;
}

/** Sending it twice stores it once. @param sha256 of the content, as the agent has it */
export async function putBlob(
  context: Context,
  { attempt }: AttemptInPlace,
  name: string,
  content: AsyncIterable<Buffer>,
  sha256: string | undefined,
): Promise<void> {
  const blob = await context.blobs.put(['runs', attempt.job_id, String(attempt.number), name], content);
  if (sha256 !== undefined && sha256 !== blob.sha256) {
    await context.blobs.remove(blob);
    throw new Refusal('bad_request', '/query/sha256 does not match the body: send it again');
  }
  await inTransaction(context, async (context) => {
    const before = await storedBlob(context, attempt.job_id, attempt.number, name);
    await context.db
      .insertInto('attempt_blob')
      .values({ job_id: attempt.job_id, attempt: attempt.number, name, blob: JSON.stringify(blob) })
      .onConflict((conflict) =>
        conflict.columns(['job_id', 'attempt', 'name']).doUpdateSet({ blob: JSON.stringify(blob) }),
      )
      .execute();
    if (before) await promiseEffect(context, removeBlobs, { ids: [before.id] });
  });
}

/** The code that a person uploaded for the deployment. */
async function sourceBlob(context: Context, deploymentId: string): Promise<BlobRef | undefined> {
  const row = await context.db
    .selectFrom('deployment')
    .innerJoin('source_archive', 'source_archive.id', 'deployment.source_id')
    .select('source_archive.blob')
    .where('deployment.id', '=', deploymentId)
    .executeTakeFirst();
  return row?.blob ?? undefined;
}

/** An apply gets the files of its plan phase, from the attempt that succeeded. */
export async function getBlob(context: Context, { job }: AttemptInPlace, name: string): Promise<Readable> {
  if (name === 'source') {
    const source = await sourceBlob(context, job.deployment_id);
    if (!source) throw notFound('blob', name);
    return beginReading(context.blobs.get(source), 'The uploaded code');
  }
  const row = await context.db
    .selectFrom('attempt_blob')
    .innerJoin('job', 'job.id', 'attempt_blob.job_id')
    .select('attempt_blob.blob')
    .where('job.deployment_id', '=', job.deployment_id)
    .where('job.phase', '=', 'plan')
    .where('attempt_blob.name', '=', name)
    .orderBy('attempt_blob.attempt', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!row) throw notFound('blob', name);
  return beginReading(context.blobs.get(row.blob), `The ${name} of the plan phase`);
}
