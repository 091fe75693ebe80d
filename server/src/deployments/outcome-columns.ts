/** The columns of a deployment that an outcome fills. */
import type { Updateable } from 'kysely';
import { approvedHash } from '#protocol/approved.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import type { Context } from '../context.ts';
import type { DeploymentTable } from '../database/schema.ts';
import type { StoredOutputs } from '../database/stored.ts';
import type { DeploymentRow } from './deployment-store.ts';

function association(deploymentId: string) {
  return { table: 'deployment', row: deploymentId, field: 'sealed_output' };
}

/** Sensitive outputs are sealed; the plain-text column does not contain their values. */
function outputColumns(
  context: Context,
  deploymentId: string,
  outputs: NonNullable<Outcome['outputs']>,
): Updateable<DeploymentTable> {
  const shown: StoredOutputs = Object.fromEntries(
    Object.entries(outputs).map(([name, output]) => [
      name,
      output.sensitive ? { ...output, value: null } : output,
    ]),
  );
  const secret = Object.fromEntries(
    Object.entries(outputs)
      .filter(([, output]) => output.sensitive)
      .map(([name, output]) => [name, output.value]),
  );
  const hasSecrets = Object.keys(secret).length > 0;
  return {
    output: JSON.stringify(shown),
    sealed_output: hasSecrets ? context.sealer.seal(JSON.stringify(secret), association(deploymentId)) : null,
  };
}

/** JSON text of each field that the outcome has; columns of absent ones stay as they are. */
function jsonColumns(outcome: Outcome): Updateable<DeploymentTable> {
  const values = {
    plan: outcome.plan,
    plan_summary: outcome.planSummary,
    approved_parts: outcome.approvedParts,
    provider_versions: outcome.providerVersions,
    module_versions: outcome.moduleVersions,
    resources: outcome.resources,
    unrecorded_resources: outcome.unrecorded,
    error: outcome.error,
  };
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([column, value]) => [column, JSON.stringify(value)]),
  );
}

function plainColumns(outcome: Outcome): Updateable<DeploymentTable> {
  const values = {
    commit_hash: outcome.commit,
    tool_version: outcome.toolVersion,
    work_folder: outcome.workFolder,
    has_changes: outcome.hasChanges,
    has_resource_changes: outcome.hasResourceChanges,
    resource_count: outcome.resourceCount,
    state_file_hash: outcome.stateFileHash,
    failed_command: outcome.failedCommand,
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** Only what the plan would change is drift: moves and attributes that merely settled are not. */
function hasDrift({ planSummary, hasResourceChanges }: Outcome): boolean {
  if (!planSummary) return hasResourceChanges ?? false;
  const { added, changed, destroyed, imported = 0 } = planSummary;
  return added + changed + destroyed + imported > 0;
}

/** @param stateVersionId the version that the attempt stored; null where it stored none */
export function outcomeColumns(
  context: Context,
  deployment: DeploymentRow,
  outcome: Outcome,
  stateVersionId: string | null,
): Updateable<DeploymentTable> {
  return {
    ...jsonColumns(outcome),
    ...plainColumns(outcome),
    ...(outcome.approvedParts ? { plan_hash: approvedHash(outcome.approvedParts) } : {}),
    ...(outcome.outputs ? outputColumns(context, deployment.id, outcome.outputs) : {}),
    ...(stateVersionId ? { state_version_id: stateVersionId } : {}),
    ...(deployment.type === 'driftDetection' && outcome.result === 'planned'
      ? { drift_detected: hasDrift(outcome) }
      : {}),
  };
}
