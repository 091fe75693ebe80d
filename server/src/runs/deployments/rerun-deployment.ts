/**
 * Runs a plan again: the same code, at the same commit and in the same folder unless it looks for drift, with today's
 * variables and state.
 */

import { isTerminal } from '#contract/life-cycle/life-cycle.ts';
import { planOnlyTypes } from '#protocol/tools/steps.ts';
import { requireSource } from '../../code/sources/require-source.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict, orNotFound } from '../../ground/errors.ts';
import { type DeploymentRow, getDeploymentRow } from '../../rows/deployments/deployment-store.ts';
import { inEnvironment } from '../../rows/places.ts';
import { appliesChanges } from '../../tenancy/project-policies/remediation-strategy.ts';
import { readInputs } from './inputs/run-inputs.ts';
import { loadStartFacts, type StartRequest, type StoredFacts } from './inputs/start-facts.ts';
import { readSource } from './requests/read-source.ts';
import { startDeployment } from './start-deployment.ts';

/** Drift is a difference from the code of today; other plans run what they ran. */
const isPinned = ({ type }: DeploymentRow): boolean => type !== 'driftDetection';

/** Why it cannot run again; null where it can. */
function refusalOf({ environment, template }: StoredFacts, row: DeploymentRow): string | null {
  const { type, status, template_id, tool } = row;
  if (!planOnlyTypes.includes(type))
    return `This is a ${type}: only plans can be run again (${planOnlyTypes.join(', ')}). Start another ${type} instead`;
  if (!isTerminal(status)) return `This ${type} is ${status}: it can be run again when it has ended`;
  if (template_id !== environment.template_id)
    return `Environment "${environment.name}" has used another template since this ${type}: start another one instead`;
  if (isPinned(row) && tool !== template.type)
    return `This ${type} ran ${tool}, and environment "${environment.name}" now uses ${template.type}: start another one instead`;
  return null;
}

/** The code that it ran: its repository needs the same right again, if it is not that of the environment. */
async function codeOf(context: ActorContext, facts: StoredFacts, row: DeploymentRow) {
  const { type, repository, revision, commit_hash: commit, source_id: sourceId } = row;
  const folder = { path: row.path, runSettings: row.run_settings };
  if (sourceId !== null) {
    await requireSource(context, row.environment_id, sourceId, 'params.id');
    return { sourceId, ...folder };
  }
  const isMoved = repository !== facts.template.repository;
  const requested = {
    deploymentType: type as 'prPlan',
    blueprintRevision: revision,
    ...(isMoved ? { blueprintRepository: repository } : {}),
  };
  const { codeChange, ...source } = await readSource(context, facts, requested);
  if (codeChange) throw new Error('A plan does not change the code of its environment');
  return isPinned(row) ? { ...source, ...folder, ...(commit === null ? {} : { commit }) } : source;
}

async function requestOf(
  context: ActorContext,
  facts: StoredFacts,
  row: DeploymentRow,
): Promise<StartRequest> {
  const { custom, proposed } = await readInputs(context, row.id);
  if (proposed)
    throw conflict(
      `This ${row.type} proposed changes of its environment, which are not repeated: start another one with them instead`,
    );
  const strategy = row.drift_remediation;
  if (appliesChanges(strategy))
    requireRight(
      context.actor,
      inEnvironment(facts.environment),
      'RUN_APPLY',
      `Running a drift detection with autoDriftRemediationStrategy ${strategy}`,
    );
  return {
    type: row.type,
    trigger: 'user',
    targets: row.targets,
    ...(await codeOf(context, facts, row)),
    ...(row.comment === null ? {} : { comment: row.comment }),
    ...(row.git_user_data === null ? {} : { gitUserData: row.git_user_data }),
    ...(strategy === null ? {} : { driftRemediation: strategy }),
    customEnvironmentVariables: { ...row.custom_environment_variables, ...custom } as Record<string, string>,
  };
}

/**
 * The caller has checked the right to plan.
 * @throws Refusal 409 for a deployment that is not a plan, has not ended, or whose code or tool is no longer that of
 * its environment
 */
export async function rerunDeployment(context: ActorContext, id: string): Promise<null> {
  return inTransaction(context, async (context) => {
    const row = orNotFound(await getDeploymentRow(context.db, id), 'deployment', id);
    const environment = await requireEnvironment(context, row.environment_id);
    const facts = await loadStartFacts(context, environment, row.type);
    const refusal = refusalOf(facts, row);
    if (refusal !== null) throw conflict(refusal);
    await startDeployment(context, facts, await requestOf(context, facts, row));
    return null;
  });
}
