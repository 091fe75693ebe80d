/** Dependencies of a verb: handed down, never looked up, so that tests can control each of them. */
import type { Kysely, Transaction } from 'kysely';
import type { Logger } from 'pino';
import type { BlobStore } from '../ground/blobs/blob-store.ts';
import type { ServerSettings } from '../ground/config/config.ts';
import type { Limits } from '../ground/limits/counts.ts';
import type { KeyHash } from '../ground/secrets/api-key-hash.ts';
import type { AuditKeys } from '../ground/secrets/audit-keys.ts';
import type { Sealer } from '../ground/secrets/sealer.ts';
import type { Schema } from '../rows/schema.ts';
import type { Actor } from './access/actor.ts';
import type { Events } from './events/events.ts';
import type { React } from './reactions.ts';

/** A connection or a transaction: a store function takes either. */
export type Connection = Kysely<Schema> | Transaction<Schema>;

export interface Context {
  /** Aborted when this server stops: calls that only wait are answered. */
  readonly stopping: AbortSignal;
  /** Reasons why the service is not ready, as sentences by the part that has the problem. */
  readonly problems: Map<string, string>;
  readonly db: Kysely<Schema>;
  /** The same database by connections that requests of people cannot occupy. */
  readonly reserved: Kysely<Schema>;
  /** The same database by one connection that all share, for short reads of single rows without locks. */
  readonly shared: Kysely<Schema>;
  readonly settings: ServerSettings;
  readonly sealer: Sealer;
  readonly keyHash: KeyHash;
  readonly auditKeys: AuditKeys;
  readonly blobs: BlobStore;
  readonly events: Events;
  readonly limits: Limits;
  readonly log: Logger;
  readonly now: () => Date;
  /** A new identifier: UUID version 7, so that ids sort by age. */
  readonly newId: () => string;
  /** Lets other families react to something in the same transaction. */
  readonly react: React<Context>;
}

/** A context on behalf of a user. */
export interface ActorContext extends Context {
  readonly actor: Actor;
  readonly requestId: string;
  /** Source of the request; absent for automatic actions of the service. */
  readonly address?: string;
}
