/** Applied changes of a deployment that did not succeed. Pure. */
import type { DeploymentErrorBody } from '#contract/deployments/plan.ts';
import type { Level } from '../decisions/decide-level.ts';

/**
 * The error of a deployment that ends after its first level, with the units that earlier levels have applied.
 * @param error null: it has none so far
 * @returns null for a deployment that has applied nothing and has no error
 */
export function withApplied(
  level: Level | null,
  error: DeploymentErrorBody | null,
): DeploymentErrorBody | null {
  if (level === null || level.done.length === 0) return error;
  const before = `Applied before in this deployment: ${level.done.join(', ')}. The next deployment continues with the rest.`;
  return { ...error, message: error === null ? before : `${error.message}\n\n${before}` };
}
