/** The columns of a deployment that an outcome fills. */
import type { Updateable } from 'kysely';
import { type Static, Type } from 'typebox';
import Value from 'typebox/value';
import { hasDrift } from '#contract/deployments/plan-counts.ts';
import { parseExactly } from '#contract/schema/exact-json.ts';
import { approvedHash } from '#protocol/approved.ts';
import { Outcome } from '#protocol/messages/outcome.ts';
import type { Context } from '../../framework/context.ts';
import type { DeploymentTable } from '../schema.ts';
import type { StoredOutputs } from './columns.ts';
import type { DeploymentRow } from './deployment-store.ts';
import type { LastOutputs } from './last-outputs-store.ts';

function association(deploymentId: string) {
  return { table: 'deployment', row: deploymentId, field: 'sealed_output' };
}

/** The parts of an outcome whose size only the limit of the message bounds, by their columns. */
const largeColumns = {
  plan: 'plan',
  provider_versions: 'providerVersions',
  module_versions: 'moduleVersions',
  resources: 'resources',
  unrecorded_resources: 'unrecorded',
  cost_estimation: 'costEstimation',
} as const satisfies Partial<Record<keyof DeploymentTable, keyof Outcome>>;

const largeParts = [...Object.values(largeColumns), 'outputs'] as const;
const SmallParts = Type.Omit(Outcome, [...largeParts]);

/** An outcome whose large parts are JSON texts, as the database stores them. */
export interface ReceivedOutcome extends Omit<Outcome, (typeof largeParts)[number]> {
  readonly texts: Readonly<Partial<Record<keyof typeof largeColumns | 'output', string>>>;
  /** The values of sensitive outputs as JSON text; absent without any. */
  readonly secretOutput?: string;
}

/** Sensitive outputs are sealed; the plain-text column does not contain their values. */
function outputTexts(outputs: NonNullable<Outcome['outputs']>) {
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
  return { output: JSON.stringify(shown), ...(hasSecrets ? { secretOutput: JSON.stringify(secret) } : {}) };
}

/** Turns large parts into text, and drops what no column stores. */
export function receivedOutcome(outcome: Outcome): ReceivedOutcome {
  const { output, secretOutput } = outcome.outputs ? outputTexts(outcome.outputs) : {};
  const parts = Object.entries(largeColumns)
    .filter(([, part]) => outcome[part] !== undefined)
    .map(([column, part]) => [column, JSON.stringify(outcome[part])]);
  const small = Object.fromEntries(
    Object.entries(outcome).filter(([name]) => Object.hasOwn(SmallParts.properties, name)),
  );
  return {
    ...(Value.Clean(SmallParts, small) as Static<typeof SmallParts>),
    texts: { ...Object.fromEntries(parts), ...(output === undefined ? {} : { output }) },
    ...(secretOutput === undefined ? {} : { secretOutput }),
  };
}

/** JSON text of each field that the outcome has; columns of absent ones stay as they are. */
function jsonColumns(outcome: ReceivedOutcome): Updateable<DeploymentTable> {
  const values = {
    plan_summary: outcome.planSummary,
    planned_units: outcome.units,
    approved_parts: outcome.approvedParts,
    error: outcome.error,
  };
  return Object.fromEntries([
    ...Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([column, value]) => [column, JSON.stringify(value)]),
    ...Object.entries(outcome.texts),
  ]);
}

function plainColumns(outcome: ReceivedOutcome): Updateable<DeploymentTable> {
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

/** The outputs of a deployment with the values of sensitive ones, which the plain-text column does not have. */
export function openOutputs(
  context: Pick<Context, 'sealer'>,
  { id, output, sealed_output: sealed }: LastOutputs,
): StoredOutputs {
  if (sealed === null) return output ?? {};
  const text = context.sealer.open(sealed, association(id)).toString('utf8');
  const values = parseExactly(text) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(output ?? {}).map(([name, each]) => [
      name,
      each.sensitive ? { ...each, value: values[name] } : each,
    ]),
  );
}

/** Only what the plan would change is drift: moves and attributes that merely settled are not. */
function isDriftIn({ planSummary, hasResourceChanges }: ReceivedOutcome): boolean {
  return planSummary ? hasDrift(planSummary) : (hasResourceChanges ?? false);
}

function sealedOutput(context: Context, { id }: DeploymentRow, { secretOutput }: ReceivedOutcome) {
  return secretOutput === undefined ? null : context.sealer.seal(secretOutput, association(id));
}

/** The sealed outputs of one deployment, for another one that has the same. */
export function resealOutput(
  { sealer }: Pick<Context, 'sealer'>,
  { id, sealed_output: sealed }: Pick<LastOutputs, 'id' | 'sealed_output'>,
  other: Pick<DeploymentRow, 'id'>,
): Buffer | null {
  return sealed && sealer.seal(sealer.open(sealed, association(id)).toString('utf8'), association(other.id));
}

/** @param stateVersionId the version that the attempt stored; null where it stored none */
export function outcomeColumns(
  context: Context,
  deployment: DeploymentRow,
  outcome: ReceivedOutcome,
  stateVersionId: string | null,
): Updateable<DeploymentTable> {
  return {
    ...jsonColumns(outcome),
    ...plainColumns(outcome),
    ...(outcome.approvedParts ? { plan_hash: approvedHash(outcome.approvedParts) } : {}),
    ...(outcome.texts.output === undefined
      ? {}
      : { sealed_output: sealedOutput(context, deployment, outcome) }),
    ...(stateVersionId ? { state_version_id: stateVersionId } : {}),
    ...(deployment.type === 'driftDetection' && outcome.result === 'planned'
      ? { drift_detected: isDriftIn(outcome) }
      : {}),
  };
}
