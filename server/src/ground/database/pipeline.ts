/**
 * Transactions whose statements do not wait for each other's answers: PostgreSQL executes what was sent in its
 * order, so statements of one `Promise.all` do what they do one after the other, in one round trip.
 *
 * It builds on inner API of Kysely, which may change with any version: `PostgresDriver`, `getExecutor`,
 * `withConnectionProvider` and the configuration of a `Transaction`. `package.json` therefore names an exact version;
 * to raise it, read the differences of these in its release, and run `pipeline.test.ts`.
 */
import {
  type ConnectionProvider,
  type DatabaseConnection,
  type Driver,
  DummyDriver,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
  Transaction,
  type TransactionSettings,
} from 'kysely';
import pg from 'pg';
import type { Schema } from '../../rows/schema.ts';

class PipelineDriver extends PostgresDriver {
  /** Sent together with the first statement: it fails only with its connection, like everything after it. */
  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    super.beginTransaction(connection, settings).catch(() => undefined);
  }
}

/** PostgreSQL by connections that send without waiting for answers. */
export class PipelineDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig;

  constructor(config: PostgresDialectConfig) {
    super(config);
    this.#config = config;
  }

  override createDriver(): Driver {
    return new PipelineDriver(this.#config);
  }
}

const inFailedTransaction = '25P02';

/** Kysely lets each statement of a transaction wait for the one before; this provider does not. */
class WithoutTurns implements ConnectionProvider {
  readonly #connection: DatabaseConnection;
  #firstFailure: unknown;
  isOver = false;

  constructor(connection: DatabaseConnection) {
    this.#connection = connection;
  }

  async provideConnection<T>(consumer: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    // Sent after the commit or rollback, it would be a transaction of its own.
    if (this.isOver) throw new Error('A statement came after the end of its transaction');
    try {
      return await consumer(this.#connection);
    } catch (error) {
      this.#firstFailure ??= error;
      // Statements after a failed one are refused: the reason is that failure.
      throw error instanceof pg.DatabaseError && error.code === inFailedTransaction
        ? this.#firstFailure
        : error;
    }
  }
}

/** A transaction needs it only to describe the schema. */
const dialect = new PostgresDialect({
  pool: () => Promise.reject(new Error('A transaction has a connection already')),
});
const driver = new DummyDriver();

export interface Pipeline {
  readonly tx: Transaction<Schema>;
  /** Refuses further statements, right before the commit or rollback is sent. */
  close(): void;
}

/** The same transaction, with statements that are sent as soon as they are made. */
export async function pipelineOf(tx: Transaction<Schema>): Promise<Pipeline> {
  const executor = tx.getExecutor();
  const provider = new WithoutTurns(await executor.provideConnection(async (own) => own));
  return {
    tx: new Transaction<Schema>({
      config: { dialect },
      dialect,
      driver,
      executor: executor.withConnectionProvider(provider),
    }),
    close: () => {
      provider.isOver = true;
    },
  };
}
