/**
 * Notices of a transaction for readers: collected, and written by one statement right before the commit. Each notice
 * is sent once, however often it was published.
 */
import type { Kysely } from 'kysely';
import { postgresChannel } from '../../ground/database/notices.ts';
import { statement } from '../../ground/database/prepared.ts';
import { beforeCommit } from '../../ground/database/transaction.ts';
import type { Schema } from '../schema.ts';

export interface StoredEvent {
  readonly deployment_id: string;
  readonly name: string;
  readonly data: unknown;
}

export interface StoredOrganizationEvent {
  readonly organization_id: string;
  readonly project_id: string | null;
  readonly environment_id: string | null;
  readonly deployment_id: string | null;
  readonly name: string;
  readonly data: unknown;
  readonly at: Date;
}

/** Events in their order, and payloads of notices. */
export interface News {
  readonly events: StoredEvent[];
  readonly organizationEvents: StoredOrganizationEvent[];
  readonly notices: Set<string>;
}

const noNews = (): News => ({ events: [], organizationEvents: [], notices: new Set() });

const writeAll = statement(`
  with streamed as (
    insert into deployment_event (deployment_id, name, data)
    select (one ->> 'deployment_id')::uuid, one ->> 'name', one -> 'data'
    from jsonb_array_elements($1::jsonb) with ordinality as each (one, place) order by place
  ), fed as (
    insert into organization_event (organization_id, project_id, environment_id, deployment_id, name, data, at)
    select (one ->> 'organization_id')::uuid, (one ->> 'project_id')::uuid, (one ->> 'environment_id')::uuid,
      (one ->> 'deployment_id')::uuid, one ->> 'name', one -> 'data', (one ->> 'at')::timestamptz
    from jsonb_array_elements($2::jsonb) with ordinality as each (one, place) order by place
  )
  select count(pg_notify('${postgresChannel}', notice)) from unnest($3::text[]) notice`);

const notifyAll = statement(
  `select count(pg_notify('${postgresChannel}', notice)) from unnest($1::text[]) notice`,
);

async function write(db: Kysely<Schema>, { events, organizationEvents, notices }: News): Promise<void> {
  if (events.length + organizationEvents.length === 0) await notifyAll(db, [...notices]);
  else await writeAll(db, JSON.stringify(events), JSON.stringify(organizationEvents), [...notices]);
}

const collected = new WeakMap<Kysely<Schema>, News>();

/**
 * Adds to the news of a transaction; outside of `inTransaction` they are written at once.
 * @param add puts events and notices into the collection
 */
export async function tell(db: Kysely<Schema>, add: (news: News) => void): Promise<void> {
  const known = collected.get(db);
  if (known) return add(known);
  const news = noNews();
  add(news);
  if (beforeCommit(db, () => write(db, news))) collected.set(db, news);
  else await write(db, news);
}
