/**
 * `If-Match` on changes: a change is refused if the entity has changed since the caller read it. What the
 * caller has read is read again in the transaction of the change, under the lock that every change of it takes:
 * of two changes of one version, one is carried out.
 */
import { sql } from 'kysely';
import type { Operation, Subject } from '#contract/schema/operation.ts';
import { readerOf } from '#contract/schema/reader-of.ts';
import { Refusal } from '../../../ground/errors.ts';
import type { Homes } from '../../../rows/entity-home.ts';
import { checkRight, subjectsOf } from '../../access/check-right.ts';
import type { ActorContext, Connection } from '../../context.ts';
import { entityTag, requireMatch } from './entity-tag.ts';

/** Locks the entity of an id until the end of the transaction. */
export type Lock = (tx: Connection, id: string) => Promise<unknown>;

/** The parts of a request to read something. */
interface ReadRequest {
  readonly params: unknown;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: undefined;
  readonly home: Awaited<ReturnType<typeof checkRight>>;
}

/** @param wire of the change; what can be read alone sends nothing itself. @returns the text of the reply */
type Read = (context: ActorContext, reading: ReadRequest, wire: unknown) => Promise<string>;

export interface Versions {
  readonly homes: Homes;
  readonly locks: ReadonlyMap<string, Lock>;
  /** Read operations, by the name of the changing operation. */
  readonly readers: ReadonlyMap<string, Read>;
}

/** A change under a condition. */
interface Conditional {
  readonly header: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly wire: unknown;
}

type ReplyFields = Readonly<Record<string, unknown>>;

/** Subject of the read, where the path of the change does not contain it: its body does, by the same field. */
function namedInBody(subject: Subject | undefined, { params, body }: Pick<Conditional, 'params' | 'body'>) {
  if (subject === undefined || subject.in === 'body' || subject.field in params) return {};
  const named = { [subject.field]: (body as ReplyFields | undefined)?.[subject.field] };
  return subject.in === 'query' ? { query: named } : { params: named };
}

/** The subject that the address of a request names: a read that every caller may send has none. */
function inAddress(operation: Operation): Subject | undefined {
  return subjectsOf(operation).find((each) => each.in !== 'body');
}

/** Excludes only those who name a version, too. */
function lockByName(entity: string): Lock {
  return async (tx, id) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`${entity} ${id}`}, 0))`.execute(tx);
  };
}

/**
 * Finds the check of `If-Match` of an operation.
 * @returns a function for the transaction of the change; null where the operation changes nothing that can be read
 * alone
 */
export function versionCheck({ homes, locks, readers }: Versions, operation: Operation) {
  const reader = readerOf(operation);
  const read = reader && readers.get(reader.name);
  const subject = reader && (inAddress(reader) ?? inAddress(operation));
  if (!reader || !read) return null;
  const lock = (subject && locks.get(subject.entity)) ?? lockByName(subject?.entity ?? reader.name);
  /** @throws Refusal 412, 403 where the caller may not read what the version is about, 404, 400 */
  return async (context: ActorContext, { header, params, body, wire }: Conditional): Promise<void> => {
    // Without a subject, it is about the caller.
    const parts = { params, query: {}, body: undefined, ...namedInBody(subject, { params, body }) };
    const ids: ReplyFields = { ...parts.params, ...parts.query };
    await lock(context.db, subject ? String(ids[subject.field]) : context.actor.userId);
    const home = await checkRight({ ...context, homes }, context.actor, reader, parts);
    requireMatch(header, entityTag(Buffer.from(await read(context, { ...parts, home }, wire))));
  };
}

/** @throws Refusal 400: a caller who names a version must not believe that it was checked */
export function refuseIfMatch({ name }: Operation): never {
  throw new Refusal(
    'bad_request',
    `The header If-Match has no meaning for ${name}: send the request without it`,
  );
}
