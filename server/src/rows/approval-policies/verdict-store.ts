/** SQL of the verdicts of approval policies. */
import { type Expression, type Insertable, type RawBuilder, type Selectable, sql } from 'kysely';
import type { PolicyVerdict } from '#contract/deployments/policy-verdict.ts';
import type { Connection } from '../../framework/context.ts';
import { rowsWhere } from '../row-queries.ts';
import type { PolicyVerdictTable } from '../schema.ts';

export type VerdictRow = Selectable<PolicyVerdictTable>;

/** Stores the verdicts of one round; existing ones stay. */
export async function insertVerdicts(
  tx: Connection,
  rows: readonly Insertable<PolicyVerdictTable>[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx
    .insertInto('policy_verdict')
    .values([...rows])
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** All verdicts about a deployment, by round and name. */
export const listVerdicts = rowsWhere('policy_verdict', 'deployment_id', 'round', 'policy_name', 'policy_id');

/** Latest requirements of policies, as an array in a statement about deployments. */
export function requiredByPolicies(deploymentId: Expression<string>): RawBuilder<string[]> {
  return sql<string[]>`array(select policy_name || ': ' || message
    from policy_verdict verdict, jsonb_array_elements_text(messages -> 'pending') with ordinality as each (message, place)
    where deployment_id = ${deploymentId} and decision = 'pending'
      and round = (select max(round) from policy_verdict last where last.deployment_id = verdict.deployment_id)
    order by policy_name, policy_id, place)`;
}

/** The newest ones of a policy, about whatever deployment. */
export async function newestVerdicts(
  db: Connection,
  policyId: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<VerdictRow[]> {
  return db
    .selectFrom('policy_verdict')
    .selectAll()
    .where('policy_id', '=', policyId)
    .orderBy('created_at', 'desc')
    .orderBy('deployment_id', 'desc')
    .orderBy('round', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
}

/** The hash over the files of each policy as it was last read, by id. */
export async function newestHashes(
  db: Connection,
  policyIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (policyIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('policy_verdict')
    .distinctOn('policy_id')
    .select(['policy_id', 'content_hash'])
    .where('policy_id', 'in', [...policyIds])
    .where('content_hash', 'is not', null)
    .orderBy('policy_id')
    .orderBy('created_at', 'desc')
    .execute();
  return new Map(
    rows.flatMap((row) => (row.content_hash === null ? [] : [[row.policy_id, row.content_hash]])),
  );
}

/** A verdict as replies show it. */
export function verdictView(row: VerdictRow): PolicyVerdict {
  return {
    policyId: row.policy_id,
    policyName: row.policy_name,
    round: row.round,
    decision: row.decision,
    messages: row.messages,
    ...(row.error === null ? {} : { error: row.error }),
    repository: row.repository,
    ...(row.revision === '' ? {} : { revision: row.revision }),
    ...(row.path === '' ? {} : { path: row.path }),
    ...(row.commit_hash === null ? {} : { commit: row.commit_hash }),
    ...(row.content_hash === null ? {} : { hash: row.content_hash }),
    milliseconds: row.milliseconds,
    at: row.created_at.toISOString(),
  };
}
