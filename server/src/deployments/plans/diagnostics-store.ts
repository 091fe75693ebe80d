/** What the tools of deployments reported. */
import type { Updateable } from 'kysely';
import { joinDiagnostics } from '#contract/deployments/diagnostics.ts';
import type { Connection } from '../../context.ts';
import type { DeploymentTable } from '../../database/schema.ts';
import type { ReceivedOutcome } from '../outcome-columns.ts';

/** The column after an outcome: what a plan reports replaces what was there, everything later adds to it. */
export async function diagnosticsColumn(
  db: Connection,
  deploymentId: string,
  { result, diagnostics = [] }: ReceivedOutcome,
): Promise<Pick<Updateable<DeploymentTable>, 'diagnostics'>> {
  if (result === 'planned')
    return { diagnostics: diagnostics.length === 0 ? null : JSON.stringify(diagnostics) };
  if (diagnostics.length === 0) return {};
  const row = await db
    .selectFrom('deployment')
    .select('diagnostics')
    .where('id', '=', deploymentId)
    .executeTakeFirst();
  return { diagnostics: JSON.stringify(joinDiagnostics([...(row?.diagnostics ?? []), ...diagnostics])) };
}
