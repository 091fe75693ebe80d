/** Code that a person uploads for remote plans: stored sealed for a day, never the environment's own code. */

import type { Readable } from 'node:stream';
import type { UploadedSource } from '#contract/deployments/shapes.ts';
import { normalizePath } from '#guards/source-guards.ts';
import { serverSettings } from '#settings/server.ts';
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { promiseEffect } from '../../framework/effects/effect-kind.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { Refusal } from '../../ground/errors.ts';
import { insertSource, openSourceBytes, type SourceArchiveRow } from '../../rows/sources/source-store.ts';
import { checkPath } from '../templates/check-source.ts';
import { expireSource } from './expire-source.ts';

const keptMilliseconds = 86_400_000;
const megabyte = 1024 * 1024;
/** An environment may have this many archives of the largest size at a time. */
const openArchives = 20;
const gzipBeginning = Buffer.from([0x1f, 0x8b]);

function tooLarge(megabytes: number): Refusal {
  return new Refusal(
    'payload_too_large',
    `/body is larger than ${megabytes} MB: leave out what a plan does not need (.terraform, .git), or raise ${serverSettings.sourceLimitMegabytes.name}`,
  );
}

/** @throws Refusal 413 if the uploads of the environment that have not expired would be too large together */
async function requireRoom(context: ActorContext, environmentId: string, bytes: number): Promise<void> {
  const megabytes = openArchives * context.settings.sourceLimitMegabytes;
  const others = await openSourceBytes(context.db, environmentId, context.now());
  if (others + bytes > megabytes * megabyte)
    throw new Refusal(
      'payload_too_large',
      `The uploads of the environment would take more than ${megabytes} MB together, ${openArchives} times ${serverSettings.sourceLimitMegabytes.name}: wait until some have expired, a day after their upload, or raise it`,
    );
}

/** Passes the archive on. @throws Refusal 413 above the limit, 400 for content that is not gzip */
async function* checked(content: Readable, megabytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  let beginning = Buffer.alloc(0);
  const refuseOther = () => {
    if (!beginning.subarray(0, 2).equals(gzipBeginning))
      throw new Refusal(
        'bad_request',
        '/body must be a tar archive compressed with gzip, as created by `tar -czf - -C DIR .`',
      );
  };
  // Left open where it is refused: who still sends would lose the answer with the connection.
  for await (const chunk of content.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > megabytes * megabyte) throw tooLarge(megabytes);
    if (beginning.length < 2) {
      beginning = Buffer.concat([beginning, chunk]).subarray(0, 2);
      if (beginning.length === 2) refuseOther();
    }
    yield chunk;
  }
  refuseOther();
}

/**
 * Stores an archive; the right was checked.
 * @param content the body as it arrives
 * @throws Refusal 400 or 413 that names what is wrong with it, 404 if the environment was deleted in the meantime
 */
export async function uploadSource(
  context: ActorContext,
  environmentId: string,
  path: string | undefined,
  content: Readable,
): Promise<UploadedSource> {
  checkPath(path, 'query.path');
  const id = context.newId();
  const put = async () => {
    await requireRoom(context, environmentId, 1);
    const archive = checked(content, context.settings.sourceLimitMegabytes);
    return context.blobs.put(['sources', environmentId, id], archive);
  };
  const blob = await put().finally(() => content.resume());
  const now = context.now();
  const expiresAt = new Date(now.getTime() + keptMilliseconds);
  const row: SourceArchiveRow = await inTransaction(context, async (context) => {
    // Locked: it may be deleted during the upload. The blob is then removed with others that no row names.
    const environment = await requireEnvironment(context, environmentId);
    await requireRoom(context, environmentId, blob.bytes);
    await recordEnvironmentAudit(context, environment, 'source.uploaded', {
      sourceId: id,
      bytes: blob.bytes,
      sha256: blob.sha256,
    });
    await promiseEffect(context, expireSource, { sourceId: id }, expiresAt);
    return insertSource(context.db, {
      id,
      environment_id: environmentId,
      path: normalizePath(path ?? ''),
      sha256: blob.sha256,
      bytes: blob.bytes,
      blob: JSON.stringify(blob),
      created_by: context.actor.userId,
      created_at: now,
      expires_at: expiresAt,
    });
  });
  return {
    id,
    environmentId,
    bytes: row.bytes,
    sha256: row.sha256,
    path: row.path,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  };
}
