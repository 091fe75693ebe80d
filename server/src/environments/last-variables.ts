/**
 * The variables of a destroy: what the last deployment ran with, by name, with the values that they have now.
 */
import type { Connection, Context } from '../context.ts';
import type { ResolvedVariables } from '../variables/resolve-variables.ts';
import { lastDeployed } from './deployment-store.ts';
import { openInputs } from './run-inputs.ts';

/**
 * Terraform variables are those of the last deployment, whose code knows no others; one that was deleted
 * since keeps its last value, or its code could not be planned any more. Environment variables are the
 * current ones: they say how the tool runs (credentials, a proxy), and none comes back that a person has
 * deleted.
 */
export async function withLastVariables(
  tx: Connection,
  context: Context,
  environmentId: string,
  current: ResolvedVariables,
): Promise<ResolvedVariables> {
  const last = await lastDeployed(tx, environmentId);
  if (!last) return current;
  const known = last.variables.filter((row) => row.type === 1);
  const isKnown = ({ name }: { name: string }) => known.some((row) => row.name === name);
  const deleted = known.filter(
    ({ name }) => !current.rows.some((row) => row.type === 1 && row.name === name),
  );
  const lastValues = openInputs(context, last.id, last.sealed_inputs).terraform;
  return {
    environment: current.environment,
    terraform: [
      ...current.terraform.filter(isKnown),
      ...lastValues.filter(({ name }) => deleted.some((row) => row.name === name)),
    ],
    rows: [...current.rows.filter((row) => row.type === 0 || isKnown(row)), ...deleted],
    unusable: current.unusable,
  };
}
