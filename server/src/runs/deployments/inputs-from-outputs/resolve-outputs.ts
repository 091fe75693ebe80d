/**
 * Resolves the references of a deployment to outputs of other environments, right before its run and once: an
 * apply uses what its plan has used.
 */

import { splitOutputName } from '#contract/deployments/unit-outputs.ts';
import type { DeploymentVariable } from '#contract/variables/shapes.ts';
import type { JobVariable } from '#protocol/messages/job.ts';
import { hasUnits } from '#protocol/tools/run-settings.ts';
import type { Context } from '../../../framework/context.ts';
import { sensitiveMask } from '../../../ground/secrets/sensitive-mask.ts';
import { parseOutputReference } from '../../../inputs/variables/output-reference.ts';
import type { StoredOutputs } from '../../../rows/deployments/columns.ts';
import { type DeploymentRow, updateDeploymentRow } from '../../../rows/deployments/deployment-store.ts';
import { getInputs } from '../../../rows/deployments/inputs-store.ts';
import type { LastOutputs } from '../../../rows/deployments/last-outputs-store.ts';
import { openOutputs } from '../../../rows/deployments/outcome-columns.ts';
import type { EnvironmentRow } from '../../../rows/environments/environment-store.ts';
import { findCycle, sourceIdsOf } from '../decisions/find-cycle.ts';
import { type PendingReference, type RunInputs, sealInputs } from '../inputs/run-inputs.ts';
import { loadSources, type OutputEnvironment, type Sources } from './load-sources.ts';
import { variableOf } from './output-value.ts';

export type Resolution =
  | { readonly kind: 'resolved'; readonly inputs: RunInputs }
  /** `message`: one line per reference that cannot be resolved. */
  | { readonly kind: 'failed'; readonly message: string };

interface OutputResolution {
  readonly reference: PendingReference;
  /** The variable, or why there is none; null: a destroy runs without it. */
  readonly found: JobVariable | string | null;
}

type OpenOutputs = (last: LastOutputs) => StoredOutputs;

/** Opens the outputs of each source once, however many references there are to them. */
function outputsOpener(context: Context): OpenOutputs {
  const opened = new Map<string, StoredOutputs>();
  return (last) => {
    const outputs = opened.get(last.id) ?? openOutputs(context, last);
    opened.set(last.id, outputs);
    return outputs;
  };
}

/** Maximum number of outputs listed in a message. */
const mostNames = 20;

function namesOf(outputs: object): string {
  const names = Object.keys(outputs).sort();
  return names.length === 0 ? 'it has none' : `it has ${listed(names)}`;
}

function listed(names: readonly string[]): string {
  const more = names.length > mostNames ? ' …' : '';
  return `${names.slice(0, mostNames).join(', ')}${more}`;
}

/** The outputs that a reference may mean where there are several units: it names the unit, or only one has it. */
function inUnits(outputs: StoredOutputs, wanted: string): string[] {
  if (Object.hasOwn(outputs, wanted)) return [wanted];
  return Object.keys(outputs)
    .filter((name) => splitOutputName(name).name === wanted)
    .sort();
}

/** @returns the variable, or what is wrong, to follow the name of the source in a sentence */
async function fromSource(
  open: OpenOutputs,
  reference: PendingReference,
  { isAllowed, projectName, last }: OutputEnvironment,
  outputName: string,
): Promise<JobVariable | string> {
  if (!isAllowed)
    return `, and the policy of its project "${projectName}" does not allow that: set outputsAsInputsEnabled there`;
  if (!last) return ', which was never deployed successfully: deploy it first';
  if (last.type === 'destroy') return ', which is destroyed: deploy it first';
  const outputs = open(last);
  const [name, ...others] = hasUnits(last.run_settings)
    ? inUnits(outputs, outputName)
    : [outputName].filter((one) => Object.hasOwn(outputs, one));
  if (others.length > 0)
    return `, where several units have an output of that name: use one of ${listed([name!, ...others])}`;
  const output = name === undefined ? undefined : outputs[name];
  if (!output) return `, which has no output of that name: ${namesOf(outputs)}`;
  const found = await variableOf(reference, output);
  return typeof found === 'string' ? `, ${found}` : found;
}

async function resolveOne(
  open: OpenOutputs,
  environment: EnvironmentRow,
  sources: Sources,
  reference: PendingReference,
): Promise<JobVariable | string> {
  const start = `Variable "${reference.name}" of environment "${environment.name}"`;
  const parsed = parseOutputReference(reference.text);
  if (!parsed) return `${start} is not a reference to an output: ENVIRONMENT_OUTPUT needs one`;
  const { outputName } = parsed;
  if (!('environmentId' in parsed))
    return `${start} refers to output "${outputName}" of sub-environment "${parsed.subEnvironmentAlias}", and only environments of a workflow have sub-environments`;
  const source = sources.byId.get(parsed.environmentId);
  const refers = `${start} refers to output "${outputName}" of environment`;
  if (!source)
    return `${refers} ${parsed.environmentId}, which does not exist or which ${sources.reader} may not view`;
  const found = await fromSource(open, reference, source, outputName);
  return typeof found === 'string' ? `${refers} "${source.environment.name}"${found}` : found;
}

async function cycleMessage(
  context: Context,
  environment: EnvironmentRow,
  sources: Sources,
  references: readonly PendingReference[],
): Promise<string | null> {
  const cycle = await findCycle(context, environment, sourceIdsOf(references));
  if (cycle === null) return null;
  const path = cycle.map((each) => sources.shown(each)).join(' → ');
  return `The environments need outputs of each other: ${path}. Remove one of the references`;
}

/** A snapshot row with the value that was used. */
function resolvedRow(row: DeploymentVariable, resolved: readonly OutputResolution[]): DeploymentVariable {
  const found = resolved.find(
    ({ reference: { name, type } }) => name === row.name && type === row.type,
  )?.found;
  if (!found || typeof found === 'string') return row;
  return { ...row, isSensitive: found.isSensitive, value: found.isSensitive ? sensitiveMask : found.value };
}

async function store(
  context: Context,
  deployment: DeploymentRow,
  { references: _, ...inputs }: RunInputs,
  resolved: readonly OutputResolution[],
): Promise<RunInputs> {
  const made = (type: number) =>
    resolved.flatMap(({ reference, found }) =>
      reference.type === type && found !== null && typeof found !== 'string' ? [found] : [],
    );
  const complete = {
    ...inputs,
    environment: [...inputs.environment, ...made(0)],
    terraform: [...inputs.terraform, ...made(1)],
  };
  const { variables = [] } = (await getInputs(context.db, deployment.id)) ?? {};
  await updateDeploymentRow(context.db, deployment.id, {
    variables: JSON.stringify(variables.map((row) => resolvedRow(row, resolved))),
    sealed_inputs: sealInputs(context, deployment.id, complete),
  });
  return complete;
}

/**
 * Stores the values with the deployment. A destroy never fails for a reference: it uses the value of the last
 * deployment, or none.
 * @param run that starts, and its inputs so far
 * @returns the inputs as they are then, or what is wrong, naming both ends
 */
export async function resolveOutputs(
  context: Context,
  run: {
    readonly deployment: DeploymentRow;
    readonly environment: EnvironmentRow;
    readonly inputs: RunInputs;
  },
): Promise<Resolution> {
  const { deployment, environment, inputs } = run;
  const { references = [] } = inputs;
  if (references.length === 0) return { kind: 'resolved', inputs };
  const sources = await loadSources(context, deployment, environment, sourceIdsOf(references));
  const isDestroy = deployment.type === 'destroy';
  const cycle = isDestroy ? null : await cycleMessage(context, environment, sources, references);
  if (cycle !== null) return { kind: 'failed', message: cycle };
  const open = outputsOpener(context);
  const resolved: OutputResolution[] = [];
  for (const reference of references) {
    const found = await resolveOne(open, environment, sources, reference);
    const isWithout = isDestroy && typeof found === 'string';
    resolved.push({ reference, found: isWithout ? (reference.last ?? null) : found });
  }
  const wrong = resolved.flatMap(({ found }) => (typeof found === 'string' ? [found] : []));
  if (wrong.length > 0) return { kind: 'failed', message: wrong.join('\n') };
  return { kind: 'resolved', inputs: await store(context, deployment, inputs, resolved) };
}
