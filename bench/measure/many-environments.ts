/** Many environments with histories, as copies of a real one. */
import { sql } from 'kysely';
import type { Database } from '../../server/src/ground/database/open.ts';
import { executeLong } from './database.ts';

export interface Copies {
  readonly environments: number;
  readonly deploymentsEach: number;
  /** Number of copies that exist already: names and times continue after them. */
  readonly after?: number;
}

/** One transaction copies this many rows at most, well within the time limit of a statement. */
const deploymentsAtOnce = 50_000;
const environmentsAtOnce = 1000;

/**
 * Every tenth of the newest deployments has failed; names, times and ids differ, everything else equals the
 * real rows.
 */
export async function copyEnvironment(
  database: Database,
  environmentId: string,
  { environments, deploymentsEach, after = 0 }: Copies,
): Promise<void> {
  const atOnce = Math.max(1, Math.min(environmentsAtOnce, Math.floor(deploymentsAtOnce / deploymentsEach)));
  const indexes = await dropIndexes(database);
  for (let done = 0; done < environments; done += atOnce) {
    const count = Math.min(atOnce, environments - done);
    await copySome(database, environmentId, { environments: count, deploymentsEach, after: after + done });
  }
  // The last two PostgreSQL would otherwise do while something is measured.
  await executeLong(database, [...indexes, 'vacuum analyze', 'checkpoint']);
}

/**
 * An index is made faster than it is kept while rows are added.
 * @returns the statements that make the indexes again
 */
async function dropIndexes({ db }: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string; definition: string }>`
    select index.indexrelid::regclass::text as name, pg_get_indexdef(index.indexrelid) as definition
    from pg_index index left join pg_constraint c on c.conindid = index.indexrelid
    where index.indrelid = 'deployment'::regclass and c.oid is null`.execute(db);
  for (const { name } of rows) await sql`drop index ${sql.raw(name)}`.execute(db);
  return rows.map(({ definition }) => definition);
}

async function copySome(
  database: Database,
  environmentId: string,
  { environments, deploymentsEach, after }: Required<Copies>,
): Promise<void> {
  const { latest_deployment_id: deploymentId } = await database.db
    .selectFrom('environment')
    .select('latest_deployment_id')
    .where('id', '=', environmentId)
    .executeTakeFirstOrThrow();
  await database.db.transaction().execute(async (tx) => {
    await sql`create temporary table copy on commit drop as
      select i, uuidv7() as environment_id, uuidv7() as template_id, uuidv7() as latest_id
      from generate_series(${sql.lit(after + 1)}, ${sql.lit(after + environments)}) i`.execute(tx);
    await sql`insert into template select r.* from copy,
      (select t.* from template t join environment e on e.template_id = t.id where e.id = ${environmentId}) t,
      jsonb_populate_record(t::template, jsonb_build_object('id', copy.template_id)) r`.execute(tx);
    // Their environments follow in the same transaction.
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql`insert into deployment overriding user value select r.* from copy, generate_series(1, ${sql.lit(deploymentsEach)}) k, deployment d,
      jsonb_populate_record(d, jsonb_build_object(
        'id', case when k = ${sql.lit(deploymentsEach)} then copy.latest_id else uuidv7() end,
        'environment_id', copy.environment_id, 'template_id', copy.template_id, 'comment', 'change ' || k,
        'status', case when k = ${sql.lit(deploymentsEach)} and copy.i % 10 = 0 then 'FAILURE' else d.status end,
        'queued_at', d.queued_at - copy.i * interval '1 hour' + k * interval '1 minute')) r
      where d.id = ${deploymentId} order by copy.i, k`.execute(tx);
    await sql`set local session_replication_role = origin`.execute(tx);
    await sql`insert into environment select r.* from copy, environment e,
      jsonb_populate_record(e, jsonb_build_object(
        'id', copy.environment_id, 'template_id', copy.template_id, 'latest_deployment_id', copy.latest_id,
        'name', 'service ' || copy.i || case copy.i % 3 when 0 then ' production' when 1 then ' staging' else ' development' end,
        'workspace_name', 'envarium' || right(copy.environment_id::text, 6),
        'status', case when copy.i % 10 = 0 then 'FAILED' else e.status end,
        'created_at', e.created_at - copy.i * interval '1 hour')) r
      where e.id = ${environmentId}`.execute(tx);
  });
}
