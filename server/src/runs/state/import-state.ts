/** Imports a state file of a person: it is checked, and then follows the current version. */

import { Readable } from 'node:stream';
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { Refusal } from '../../ground/errors.ts';
import type { StateVersionRow } from '../../rows/state/state-store.ts';
import { checkStateFile, type ReadState } from './files/read-state.ts';
import { readWhole, release } from './files/whole-bytes.ts';
import { placeVersion } from './place-version.ts';
import { requireLineage } from './roll-back-or-promote.ts';
import { requireFreeState } from './state-holder.ts';

/**
 * @param bytes not usable afterwards: those that are returned are
 * @throws Refusal 400 that says what is wrong with the bytes
 */
export async function requireStateFile(bytes: Buffer<ArrayBuffer>): Promise<ReadState> {
  try {
    return await checkStateFile(bytes);
  } catch (error) {
    throw new Refusal('bad_request', `/body is not a state file: ${(error as Error).message}`);
  }
}

/** More than this many times the limit is not read to its end. */
const drainedLimits = 4;

async function* atMost(source: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const part of source) {
    if (size > bytes) return;
    size += part.length;
    yield part;
  }
}

/**
 * Reads a body up to the limit for states. A larger one is read to its end, without being kept: its sender
 * would otherwise find a closed connection instead of the answer.
 * @throws Refusal 413 that names the setting, 400 for a body that is packed
 */
export async function readStateBody(
  { settings }: Pick<ActorContext, 'settings'>,
  body: AsyncIterable<Buffer> | undefined,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Promise<Buffer<ArrayBuffer>> {
  const { 'content-type': type, 'content-encoding': encoding } = headers;
  if (encoding !== undefined && encoding !== 'identity')
    throw new Refusal(
      'bad_request',
      `The header Content-Encoding is ${String(encoding)}: send the state file unencoded`,
    );
  if (typeof type === 'string' && /^(multipart\/|application\/x-www-form-urlencoded)/i.test(type))
    throw new Refusal(
      'bad_request',
      `The header Content-Type is ${type}: send the state file itself as the body, not a form`,
    );
  const limit = settings.stateLimitMegabytes * 1024 * 1024;
  const expected = Number(headers['content-length'] ?? 0);
  const parts = body === undefined ? Readable.from([]) : atMost(body, limit * drainedLimits);
  const bytes = await readWhole(parts, { expected, most: limit });
  if (bytes !== null) return bytes;
  throw new Refusal(
    'payload_too_large',
    `The state is larger than ${settings.stateLimitMegabytes} MB, the limit set by ENVARIUM_STATE_LIMIT_MB`,
  );
}

export interface StateImport {
  readonly comment?: string | undefined;
  readonly acceptOtherLineage?: boolean | undefined;
}

/**
 * @param sent not usable afterwards
 * @throws Refusal 400 for a bad state or another lineage, 404, 409 while the state is held
 */
export async function importState(
  context: ActorContext,
  environmentId: string,
  sent: Buffer<ArrayBuffer>,
  { comment, acceptOtherLineage }: StateImport,
): Promise<StateVersionRow> {
  const state = await requireStateFile(sent);
  const { facts, bytes } = state;
  const place = async (context: ActorContext) => {
    const environment = await requireEnvironment(context, environmentId);
    await requireFreeState(context.db, environment);
    await requireLineage(context.db, environment, {
      lineage: facts.lineage,
      isAccepted: acceptOtherLineage === true,
      what: 'the file',
      field: 'query.acceptOtherLineage',
    });
    const version = await placeVersion(context, environment, { ...state, origin: 'import', comment });
    await recordEnvironmentAudit(context, environment, 'state.imported', {
      stateVersionId: version.id,
      serial: version.serial,
      lineage: version.lineage,
      sha256: version.sha256,
    });
    return version;
  };
  try {
    return await inTransaction(context, place);
  } finally {
    release(bytes);
  }
}
