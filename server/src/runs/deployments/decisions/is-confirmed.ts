import type { Context } from '../../../framework/context.ts';
import type { DeploymentRow } from '../../../rows/deployments/deployment-store.ts';
import { approvedLevel } from '../../../rows/deployments/level-store.ts';
import { beyondConfirmed } from './decide-level.ts';

/** Whether a plan of a later level contains nothing that was not approved with an earlier one. */
export async function isConfirmed(
  context: Pick<Context, 'db'>,
  {
    id,
    level,
    planned_units: units,
    approved_parts: parts,
  }: Pick<DeploymentRow, 'id' | 'level' | 'planned_units' | 'approved_parts'>,
): Promise<boolean> {
  if (level === null) return false;
  const found = await approvedLevel(context.db, id);
  const confirmed = found ? { units: found.planned_units ?? [], parts: found.approved_parts } : null;
  return beyondConfirmed({ units: units ?? [], parts }, confirmed).length === 0;
}
