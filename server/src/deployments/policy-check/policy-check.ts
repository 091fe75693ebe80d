/** The effect that asks the policies of a deployment: after its plan, and again after each approval. */
import type { Insertable } from 'kysely';
import { policyStep } from '#protocol/tools/steps.ts';
import { PolicyError } from '../../approval-policies/policy-error.ts';
import { isPassing } from '../../approval-policies/read-policy.ts';
import { listVerdicts } from '../../approval-policies/verdict-store.ts';
import type { Context } from '../../context.ts';
import type { PolicyVerdictTable } from '../../database/schema.ts';
import { whyUnavailable } from '../../database/unavailable.ts';
import { type EffectKind, promiseEffect } from '../../effects/effect-kind.ts';
import { recordEvent } from '../../feeds/record-event.ts';
import { policiesFor } from '../../flows/assignment-store.ts';
import { restartStep } from '../../logs/step-store.ts';
import { stepView } from '../../logs/step-view.ts';
import { getTemplateRows, type TemplateRow } from '../../templates/template-store.ts';
import { type DeploymentRow, getDeploymentRow } from '../deployment-store.ts';
import { listReviews } from '../review-store.ts';
import { askPolicies, inputBodies, type Said } from './ask-policies.ts';
import { concludeCheck, type RoundOfDeployment } from './conclude-check.ts';
import { plannedInput, policyInput, type PolicyInput } from './policy-input.ts';

/** Less than an effect may take. */
const mostSeconds = 50;

/** A policy, at the commit where it was read before. */
interface Asked {
  readonly template: TemplateRow;
  readonly commit?: string;
}

/**
 * The policies of a round: of the first, those that are assigned then; of later ones the same, at the same commits and
 * with the same configuration, so that nothing but the approvers changes while people decide.
 */
async function policiesOfRound(context: Context, row: DeploymentRow, round: number): Promise<Asked[]> {
  const place = { projectId: row.project_id, templateId: row.template_id };
  const before =
    round === 1 ? [] : (await listVerdicts(context.db, row.id)).filter((said) => said.round === 1);
  const ids = round === 1 ? await policiesFor(context.db, place) : before.map((said) => said.policy_id);
  const rows = await getTemplateRows(context.db, ids);
  return rows.map((template) => {
    const first = before.find((said) => said.policy_id === template.id);
    if (!first) return { template };
    const { path, revision, configuration } = first;
    const kept = configuration === null ? {} : { policyConfiguration: configuration };
    const settings = { ...template.settings, path, revision, ...kept };
    const same = { ...template, repository: first.repository, settings };
    return { template: same, ...(first.commit_hash === null ? {} : { commit: first.commit_hash }) };
  });
}

async function askAll(
  context: Context,
  row: DeploymentRow,
  policies: readonly Asked[],
  input: PolicyInput,
  { round, over }: { readonly round: number; readonly over: AbortSignal },
): Promise<Insertable<PolicyVerdictTable>[]> {
  const bodyFor = inputBodies(input);
  const project = { organizationId: row.organization_id, projectId: row.project_id };
  const asked = policies.map(({ template, commit }) => ({
    template,
    project,
    body: bodyFor(template.settings.policyConfiguration),
    ...(commit === undefined ? {} : { commit }),
  }));
  const said = await askPolicies(context, asked, over);
  return policies.map(({ template }, index) => {
    const { messages, ...rest } = said[index] as Said;
    const { policyConfiguration: configuration = {} } = template.settings;
    return {
      deployment_id: row.id,
      round,
      policy_id: template.id,
      policy_name: template.name,
      repository: template.repository,
      revision: template.settings.revision ?? '',
      path: template.settings.path ?? '',
      configuration: JSON.stringify(configuration),
      ...rest,
      messages: JSON.stringify(messages),
      created_at: context.now(),
    };
  });
}

function late(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const timer = setTimeout(
      () => reject(new PolicyError(`Reading and evaluating the policies takes longer than ${mostSeconds} s`)),
      mostSeconds * 1000,
    );
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  });
}

const printVariable = 'ENVARIUM_PRINT_POLICY_INPUT';

function isPrinted({ variables }: PolicyInput): boolean {
  const { envarium } = variables as { readonly envarium: Readonly<Record<string, unknown>> };
  return envarium[printVariable] === 'true';
}

/** Asks all policies, and stores what follows. */
async function check(context: Context, round: RoundOfDeployment): Promise<void> {
  const row = await getDeploymentRow(context.db, round.deploymentId);
  if (row?.status !== 'IN_PROGRESS' && row?.status !== 'ABORTING') return;
  const finished = new AbortController();
  try {
    const [policies, planned] = await Promise.all([
      policiesOfRound(context, row, round.round),
      plannedInput(context, row.id),
    ]);
    const input = await policyInput(context, row, planned);
    const over = finished.signal;
    const asked = askAll(context, row, policies, input, { round: round.round, over });
    const verdicts = await Promise.race([asked, late(over)]);
    // A server that stops ends what evaluates: the next one asks again.
    context.stopping.throwIfAborted();
    await concludeCheck(context, round, { verdicts, printed: isPrinted(input) ? input : null });
  } catch (error) {
    // What passes is tried again; anything else would only happen again.
    if (whyUnavailable(error) !== null || isPassing(error) || context.stopping.aborted) throw error;
    const message =
      error instanceof PolicyError ? error.message : 'The approval policies could not be evaluated';
    if (!(error instanceof PolicyError))
      context.log.error({ err: error, deploymentId: row.id }, 'approval policies could not be evaluated');
    await concludeCheck(context, round, { verdicts: [], printed: null, problem: message });
  } finally {
    finished.abort();
  }
}

/** Rows of the outbox have the name. */
export const policyCheck: EffectKind<RoundOfDeployment> = {
  name: 'evaluate-policies',
  isSlow: true,
  carryOut: check,
};

async function beginStep(context: Context, row: DeploymentRow): Promise<void> {
  const step = await restartStep(context.db, row.id, policyStep, context.now());
  if (step) await recordEvent(context, row.id, 'step', stepView(step, row));
}

/** Promises a round, in the transaction of what makes it necessary. */
export async function promiseCheck(context: Context, row: DeploymentRow, round: number): Promise<void> {
  await Promise.all([
    beginStep(context, row),
    promiseEffect(context, policyCheck, { deploymentId: row.id, round }),
  ]);
}

/** Promises the round that follows an approval, which is stored. */
export async function askPoliciesAgain(context: Context, row: DeploymentRow): Promise<void> {
  const reviews = await listReviews(context.db, [row.id]);
  await promiseCheck(context, row, 1 + reviews.filter(({ action }) => action === 'approved').length);
}
