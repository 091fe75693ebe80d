/** Reports of the tools of deployments. */
import type { Updateable } from 'kysely';
import { joinDiagnostics } from '#contract/deployments/diagnostics.ts';
import type { Connection } from '../../framework/context.ts';
import type { DeploymentTable } from '../schema.ts';
import type { DeploymentRow } from './deployment-store.ts';
import type { ReceivedOutcome } from './outcome-columns.ts';

/**
 * The column after an outcome: what the first plan reports replaces what was there. Everything later adds to it, also
 * the plans of further levels: what the applies before them reported is true of the deployment.
 */
export async function diagnosticsColumn(
  db: Connection,
  { id, level }: Pick<DeploymentRow, 'id' | 'level'>,
  { result, diagnostics = [] }: ReceivedOutcome,
): Promise<Pick<Updateable<DeploymentTable>, 'diagnostics'>> {
  if (result === 'planned' && level === null)
    return { diagnostics: diagnostics.length === 0 ? null : JSON.stringify(diagnostics) };
  if (diagnostics.length === 0) return {};
  const row = await db.selectFrom('deployment').select('diagnostics').where('id', '=', id).executeTakeFirst();
  return { diagnostics: JSON.stringify(joinDiagnostics([...(row?.diagnostics ?? []), ...diagnostics])) };
}
