/** The effect that asks the policies of a deployment: after its plan, and again after each approval. */
import type { Insertable } from 'kysely';
import { policyStep } from '#protocol/tools/steps.ts';
import type { Context } from '../../../framework/context.ts';
import { type EffectKind, promiseEffect } from '../../../framework/effects/effect-kind.ts';
import { storable } from '../../../ground/database/storable.ts';
import { inTransaction } from '../../../ground/database/transaction.ts';
import { listVerdicts } from '../../../rows/approval-policies/verdict-store.ts';
import { policiesFor } from '../../../rows/custom-flows/assignment-store.ts';
import { type DeploymentRow, getDeploymentRow } from '../../../rows/deployments/deployment-store.ts';
import { appendLog, getStepRow, restartStep } from '../../../rows/logs/step-store.ts';
import type { PolicyVerdictTable } from '../../../rows/schema.ts';
import { getTemplateRows, type TemplateRow } from '../../../rows/templates/template-store.ts';
import { PolicyError, PolicyUnavailable } from '../../../rules/approval-policies/evaluation/policy-error.ts';
import { isTemporary } from '../../../rules/approval-policies/evaluation/read-policy.ts';
import { recordEvent } from '../../feeds/record-event.ts';
import { stepView } from '../../logs/step-view.ts';
import { currentRound } from '../decisions/current-round.ts';
import { concludeCheck, type RoundOfDeployment } from './conclude-check.ts';
import { evaluatePolicies, type PolicyResult, policyDocuments } from './evaluate-policies.ts';
import { type PolicyInput, plannedInput, policyInput } from './policy-input.ts';

/** Less than an effect may take. */
const mostSeconds = 50;
/** Maximum wait for the end of a temporary failure. */
const longestOutageMinutes = 30;
const pauseMilliseconds = { shortest: 5000, longest: 300_000 };

/** When to ask again: after pauses that double with the time since the round began; null once that is too long. */
function nextTry(began: Date, now: Date): Date | null {
  const elapsed = now.getTime() - began.getTime();
  if (elapsed >= longestOutageMinutes * 60_000) return null;
  const { shortest, longest } = pauseMilliseconds;
  return new Date(now.getTime() + Math.min(longest, Math.max(shortest, elapsed)));
}

/** A policy, at the commit where it was read before. */
interface PolicyAtCommit {
  readonly template: TemplateRow;
  readonly commit?: string;
}

/**
 * The policies of a round: of the first, those that are assigned then; of later ones the same, at the same commits and
 * with the same configuration, so that nothing but the approvers changes while people decide.
 */
async function policiesOfRound(
  context: Context,
  row: DeploymentRow,
  round: number,
): Promise<PolicyAtCommit[]> {
  const place = { projectId: row.project_id, templateId: row.template_id };
  const before =
    round === 1 ? [] : (await listVerdicts(context.db, row.id)).filter((verdict) => verdict.round === 1);
  const ids = round === 1 ? await policiesFor(context.db, place) : before.map((verdict) => verdict.policy_id);
  const rows = await getTemplateRows(context.db, ids);
  return rows.map((template) => {
    const first = before.find((verdict) => verdict.policy_id === template.id);
    if (!first) return { template };
    const { path, revision, configuration } = first;
    const kept = configuration === null ? {} : { policyConfiguration: configuration };
    const settings = { ...template.settings, path, revision, ...kept };
    const same = { ...template, repository: first.repository, settings };
    return { template: same, ...(first.commit_hash === null ? {} : { commit: first.commit_hash }) };
  });
}

async function evaluateAll(
  context: Context,
  row: DeploymentRow,
  policies: readonly PolicyAtCommit[],
  input: PolicyInput,
  { round, signal }: { readonly round: number; readonly signal: AbortSignal },
): Promise<Insertable<PolicyVerdictTable>[]> {
  const documentFor = policyDocuments(input);
  const project = { organizationId: row.organization_id, projectId: row.project_id };
  const withInput = policies.map(({ template, commit }) => ({
    template,
    project,
    document: documentFor(template.settings.policyConfiguration),
    ...(commit === undefined ? {} : { commit }),
  }));
  const results = await evaluatePolicies(context, withInput, signal);
  return policies.map(({ template }, index) => {
    const { messages, ...rest } = results[index] as PolicyResult;
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

/** A policy that was fast enough in the first round is not too slow, but delayed. */
function late(signal: AbortSignal, round: number): Promise<never> {
  const Late = round === 1 ? PolicyError : PolicyUnavailable;
  return new Promise((_, reject) => {
    const timer = setTimeout(
      () => reject(new Late(`Reading and evaluating the policies takes longer than ${mostSeconds} s`)),
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

/** @returns when to ask again after a failure that passes, unless it has lasted too long: that ends the deployment */
async function waitOrGiveUp(
  context: Context,
  round: RoundOfDeployment,
  error: unknown,
): Promise<Date | undefined> {
  const { deploymentId } = round;
  const isExplained = error instanceof PolicyError || isTemporary(error);
  const reason = isExplained ? (error as Error).message : 'The approval policies could not be evaluated';
  if (!isExplained)
    context.log.error({ err: error, deploymentId }, 'approval policies could not be evaluated');
  const now = context.now();
  const step = await getStepRow(context.db, deploymentId, policyStep);
  // A time in which no server ran does not count.
  const began = Math.max(step?.started_at?.getTime() ?? now.getTime(), performance.timeOrigin);
  const again = nextTry(new Date(began), now);
  if (again === null) {
    const problem = `${reason} (tried for ${longestOutageMinutes} minutes)`;
    await concludeCheck(context, round, { verdicts: [], printed: null, problem });
    return undefined;
  }
  const line = storable(`${reason}. Tried again at ${again.toISOString()}\n`);
  await inTransaction(context, ({ db }) => appendLog(db, deploymentId, policyStep, line));
  return again;
}

/** Evaluates all policies, and stores what follows. @returns when to ask again, where something fails that passes */
async function check(context: Context, round: RoundOfDeployment): Promise<Date | undefined> {
  const row = await getDeploymentRow(context.db, round.deploymentId);
  if (row?.status !== 'IN_PROGRESS' && row?.status !== 'ABORTING') return undefined;
  const finished = new AbortController();
  try {
    const [policies, planned] = await Promise.all([
      policiesOfRound(context, row, round.round),
      plannedInput(context, row.id),
    ]);
    const input = await policyInput(context, row, planned);
    const { signal } = finished;
    const evaluated = evaluateAll(context, row, policies, input, { round: round.round, signal });
    const verdicts = await Promise.race([evaluated, late(signal, round.round)]);
    // A server that stops ends what evaluates: the next one evaluates again.
    context.stopping.throwIfAborted();
    await concludeCheck(context, round, { verdicts, printed: isPrinted(input) ? input : null });
    return undefined;
  } catch (error) {
    if (context.stopping.aborted) throw error;
    // Errors of a policy or its input would only recur; failures of the service and of hosts are temporary.
    if (!(error instanceof PolicyError) || isTemporary(error)) return waitOrGiveUp(context, round, error);
    const problem = error.message;
    await concludeCheck(context, round, { verdicts: [], printed: null, problem });
    return undefined;
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
export async function evaluatePoliciesAgain(context: Context, row: DeploymentRow): Promise<void> {
  await promiseCheck(context, row, await currentRound(context.db, row));
}
