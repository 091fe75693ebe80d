/** SQL of what stored plans would do: the database counts, so that large plans are not read. */
import { sql } from 'kysely';
import type { PlanSummary } from '#contract/deployments/plan.ts';
import { mostDestructive } from '#contract/deployments/plan-impact.ts';
import type { Connection } from '../../framework/context.ts';

type ImpactAction = 'create' | 'update' | 'delete' | 'recreate' | 'metadata';

export interface ImpactRow {
  readonly id: string;
  readonly organization_id: string;
  readonly project_id: string;
  readonly environment_id: string;
  readonly plan_summary: PlanSummary | null;
  /** Null: no plan is stored. */
  readonly actions: Readonly<Partial<Record<ImpactAction, number>>> | null;
  readonly types: Readonly<Record<string, number>>;
  readonly destructive: readonly {
    readonly address: string;
    readonly type: string;
    readonly name: string;
    readonly action: 'delete' | 'recreate';
  }[];
}

/** @param ids UUIDs; those that do not exist are left out */
export async function readImpacts(db: Connection, ids: readonly string[]): Promise<ImpactRow[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<ImpactRow>`
    select d.id, d.organization_id, d.project_id, d.environment_id, d.plan_summary,
      case when d.plan is not null then counted.actions end as actions,
      coalesce(counted.types, '{}') as types, coalesce(counted.destructive, '[]') as destructive
    from deployment d
    left join lateral (
      with change as (
        select value ->> 'action' as action, value ->> 'type' as type, value ->> 'path' as address,
          value ->> 'name' as name, ordinality
        from jsonb_array_elements(d.plan -> 'resourceChanges') with ordinality
        -- What is deferred is not done by this plan.
        where value ->> 'kind' is distinct from 'defer'
      ), lost as (select * from change where action in ('delete', 'recreate'))
      select
        (select coalesce(jsonb_object_agg(action, number), '{}')
          from (select action, count(*)::integer as number from change group by action) a) as actions,
        (select jsonb_object_agg(type, number)
          from (select type, count(*)::integer as number from lost group by type) t) as types,
        (select jsonb_agg(jsonb_build_object('address', address, 'type', type, 'name', name, 'action', action)
          order by ordinality) from (select * from lost order by ordinality limit ${mostDestructive}) f) as destructive
    ) counted on d.plan is not null
    where d.id = any(${[...ids]}::uuid[])`.execute(db);
  return rows;
}
