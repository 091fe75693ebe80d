/**
 * Which organizations have assignments at all, in memory: a deployment of any other one costs no statement more.
 * Another server knows of a first assignment as soon as it has its notice.
 */
import type { Context } from '../context.ts';
import { afterCommit } from '../database/transaction.ts';
import { perServer } from '../events/per-server.ts';
import { organizationsWithAssignments } from './assignment-store.ts';

const channel = 'notification-assignments';

class Known {
  #organizations: Promise<ReadonlySet<string>> | null = null;
  #isListening = false;

  readonly forget = (): void => {
    this.#organizations = null;
  };

  async of({ db, events }: Pick<Context, 'db' | 'events'>): Promise<ReadonlySet<string>> {
    if (!this.#isListening) events.subscribe(channel, this.forget);
    this.#isListening = true;
    const known = this.#organizations ?? organizationsWithAssignments(db);
    this.#organizations = known;
    try {
      return await known;
    } catch (error) {
      this.forget();
      throw error;
    }
  }
}

const known = perServer(() => new Known());

export async function hasAssignments(
  context: Pick<Context, 'db' | 'events'>,
  organizationId: string,
): Promise<boolean> {
  return (await known(context).of(context)).has(organizationId);
}

/** Reads them when a server starts, and not in the first run; where that fails, the first run reads them. */
export async function rememberAssignments(context: Pick<Context, 'db' | 'events' | 'log'>): Promise<void> {
  await known(context)
    .of(context)
    .catch((error: unknown) =>
      context.log.warn({ err: error }, 'the organizations with notifications cannot be read now'),
    );
}

/** In the transaction that changes assignments. */
export async function tellAssignments(context: Pick<Context, 'db' | 'events'>): Promise<void> {
  await context.events.publish(context.db, channel);
  afterCommit(context.db, known(context).forget);
}
