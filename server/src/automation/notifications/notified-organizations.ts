/**
 * Organizations with any assignments, in memory: a deployment of any other one costs no additional statement.
 * Another server knows of a first assignment as soon as it has its notice.
 */
import type { Context } from '../../framework/context.ts';
import { perServer } from '../../framework/events/per-server.ts';
import { afterCommit } from '../../ground/database/transaction.ts';
import { organizationsWithAssignments } from '../../rows/notifications/assignment-store.ts';

const channel = 'notification-assignments';
/** For as long as a silent connection can keep a notice back before it is replaced. */
const keptMilliseconds = 60_000;

interface CachedOrganizations {
  readonly organizations: Promise<ReadonlySet<string>>;
  readonly until: number;
}

class Known {
  #kept: CachedOrganizations | null = null;
  #isListening = false;

  /** At a notice, and after each reconnection, which wakes every listener. */
  readonly forget = (): void => {
    this.#kept = null;
  };

  async of({ db, events, now }: Pick<Context, 'db' | 'events' | 'now'>): Promise<ReadonlySet<string>> {
    if (!this.#isListening) events.subscribe(channel, this.forget);
    this.#isListening = true;
    const at = now().getTime();
    if (this.#kept && at >= this.#kept.until) this.forget();
    this.#kept ??= { organizations: organizationsWithAssignments(db), until: at + keptMilliseconds };
    try {
      return await this.#kept.organizations;
    } catch (error) {
      this.forget();
      throw error;
    }
  }
}

const known = perServer(() => new Known());

export async function hasAssignments(
  context: Pick<Context, 'db' | 'events' | 'now'>,
  organizationId: string,
): Promise<boolean> {
  return (await known(context).of(context)).has(organizationId);
}

/** Reads them when a server starts, and not in the first run; where that fails, the first run reads them. */
export async function rememberAssignments(
  context: Pick<Context, 'db' | 'events' | 'log' | 'now'>,
): Promise<void> {
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
