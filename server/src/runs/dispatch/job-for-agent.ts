/** Assembles what an agent needs to run an attempt: the only place where a run's secrets are opened. */
import { posix } from 'node:path';
import { knownHostsFile } from '#guards/known-hosts.ts';
import { readRepository } from '#guards/source-guards.ts';
import type { HeldAttempt } from '#protocol/messages/attempt.ts';
import type { ApprovedParts, Job, JobVariable } from '#protocol/messages/job.ts';
import { toolFacts } from '#protocol/tools/index.ts';
import { hasUnits } from '#protocol/tools/run-settings.ts';
import { generatedWorkspaceName } from '#protocol/workspace-name.ts';
import { credentialsFor, type TemplateCode } from '../../code/templates/credentials-for.ts';
import type { Connection, Context } from '../../framework/context.ts';
import { type DeploymentRow, lastDeployed } from '../../rows/deployments/deployment-store.ts';
import { listReviews } from '../../rows/deployments/review-store.ts';
import { generatedSecrets } from '../../rows/dispatch/generated-secret-store.ts';
import type { EnvironmentRow } from '../../rows/environments/environment-store.ts';
import type { ProjectPlace } from '../../rows/projects/project-store.ts';
import { getSourceRow } from '../../rows/sources/source-store.ts';
import { getKeyValues } from '../../rows/ssh-keys/ssh-key-store.ts';
import { getStateVersion } from '../../rows/state/state-store.ts';
import type { RepositoryCredentials } from '../../rows/templates/columns.ts';
import type { TemplateRow } from '../../rows/templates/template-store.ts';
import { clones, isDeniedTokens } from '../deployments/views/deployment-facts.ts';
import type { JobFacts } from './job-facts.ts';
import { credentialsForRun } from './run-secrets/credentials-for-run.ts';
import { noTokens, tokenSecrets, tokensForRuns } from './run-secrets/tokens-for-runs.ts';
import { reviewerOf, systemVariables } from './system-variables.ts';

/** Code to check out, and its project. */
interface JobCode extends TemplateCode {
  readonly place: ProjectPlace;
}

/**
 * Input of ssh: keys and known hosts; null if it is not used.
 * @param isOwnHostOnly the keys are not used for hosts other than the repository's
 */
async function sshOf(
  context: Context,
  { template, place, repository }: JobCode,
  isOwnHostOnly: boolean,
): Promise<Job['source']['ssh'] | null> {
  const ids = (template.settings.sshKeys ?? []).map((key) => key.id);
  const keys = await getKeyValues(context.db, context, place, ids);
  const kind = readRepository(repository, { httpHosts: [], localPaths: [] });
  const isSsh = 'kind' in kind && kind.kind === 'ssh';
  const isUsed = isSsh || (keys.length > 0 && !isOwnHostOnly);
  return isUsed ? { keys, knownHosts: knownHostsFile(context.settings.gitKnownHosts) } : null;
}

function sensitiveValues(variables: readonly JobVariable[]): string[] {
  return variables.filter((each) => each.isSensitive && each.value !== '').map((each) => each.value);
}

async function currentState(db: Connection, environment: EnvironmentRow): Promise<Job['state']> {
  const id = environment.current_state_version_id;
  const row = id ? await getStateVersion(db, id) : undefined;
  const current = row && {
    stateVersionId: row.id,
    serial: row.serial,
    lineage: row.lineage,
    sha256: row.sha256,
  };
  return { isForced: environment.is_remote_backend, ...(current ? { current } : {}) };
}

function sourceOf(
  context: Context,
  deployment: DeploymentRow,
  { isHelmRepository, helmChartName }: TemplateRow['settings'],
  credentials: RepositoryCredentials | null,
): Job['source'] {
  const revision = deployment.commit_hash ?? deployment.commit_to_run ?? deployment.revision;
  const { workingDirectory } = deployment.run_settings ?? {};
  const path = workingDirectory ? posix.join(deployment.path, workingDirectory) : deployment.path;
  const isChart = isHelmRepository === true && helmChartName !== undefined;
  return {
    repository: deployment.repository,
    ...(isChart
      ? { chart: { name: helmChartName, ...(revision ? { version: revision } : {}) } }
      : revision
        ? { revision }
        : {}),
    ...(path ? { path } : {}),
    ...(credentials ? { credentials } : {}),
    httpHosts: [...context.settings.gitHttpHosts],
    localPaths: [...context.settings.gitLocalPaths],
  };
}

function limitsOf({ settings }: Context, type: string): Job['limits'] {
  const megabyte = 1024 * 1024;
  return {
    runSeconds: type === 'task' ? settings.taskTimeLimitSeconds : settings.runTimeLimitSeconds,
    abortSeconds: settings.abortSeconds,
    offlineGraceSeconds: settings.offlineGraceSeconds,
    stepLogBytes: settings.stepLogLimitMegabytes * megabyte,
    travelBytes: settings.travelLimitMegabytes * megabyte,
  };
}

/** Code that was uploaded for a remote plan. */
async function archiveOf(db: Connection, deployment: DeploymentRow): Promise<Pick<Job['source'], 'archive'>> {
  if (deployment.source_id === null) return {};
  const source = await getSourceRow(db, deployment.source_id);
  if (!source) throw new Error(`Source ${deployment.source_id} was not found`);
  const { sha256, bytes } = source;
  return { archive: { sha256, bytes } };
}

async function retryOf(
  db: Connection,
  deployment: DeploymentRow,
  template: TemplateRow,
): Promise<Pick<Job, 'retry'>> {
  const rules = template.settings.retry;
  const rule = deployment.type === 'destroy' ? rules?.onDestroy : rules?.onDeploy;
  if (!rule?.times) return {};
  // A plan that policies let pass counts as approved: they are not evaluated again for a retry.
  const isReviewed =
    deployment.has_policies ||
    (await listReviews(db, [deployment.id])).some((review) => review.action === 'approved');
  return {
    retry: { times: rule.times, ...(rule.errorRegex ? { errorRegex: rule.errorRegex } : {}), isReviewed },
  };
}

/**
 * The version that runs. A task works on what was deployed last, with the version that deployed it, and so does a
 * destroy with a tool that the template no longer names.
 */
function toolVersionOf(deployment: DeploymentRow, template: TemplateRow): Pick<Job, 'toolVersion'> {
  const isOfLast = deployment.type === 'task' || deployment.tool !== template.type;
  const lastVersion = isOfLast ? deployment.tool_version : null;
  const field = toolFacts(deployment.tool)?.version.field ?? null;
  const toolVersion = lastVersion ?? (field === null ? undefined : template.settings[field]);
  return toolVersion ? { toolVersion } : {};
}

/** Settings of the template and the environment when the deployment was requested. */
function settingsOf({ run_settings: settings }: DeploymentRow): Pick<Job, 'settings'> {
  const { workingDirectory: _, ...others } = settings ?? {};
  return Object.keys(others).length === 0 ? {} : { settings: others };
}

/** Of a run of several units, which may be planned and applied one after the other. */
function levelOf({ type, run_settings: settings, level }: DeploymentRow): Pick<Job, 'level'> {
  if (type !== 'deploy' || !hasUnits(settings)) return {};
  return { level: level ?? { number: 1, units: [], done: [] } };
}

/** A specified name was chosen by a person; a generated one has proved right once something was applied. */
async function isWorkspaceNew(
  db: Connection,
  job: JobFacts['job'],
  environment: EnvironmentRow,
): Promise<boolean> {
  const isGenerated = environment.workspace_name === generatedWorkspaceName(environment.id);
  if (job.phase !== 'plan' || !isGenerated) return false;
  return (
    environment.resting_status === 'NEVER_DEPLOYED' || (await lastDeployed(db, environment.id)) === undefined
  );
}

/** Approved plan, which an apply compares with its own. */
function approvedOf(
  job: JobFacts['job'],
  deployment: DeploymentRow,
  continues: HeldAttempt | null,
): Pick<Job, 'approved'> {
  const { approved_parts: parts, plan_hash: hash } = deployment;
  if (job.phase !== 'apply' || !parts || !hash) return {};
  return { approved: { hash, parts: parts as ApprovedParts, ...(continues ? { continues } : {}) } };
}

/** The parts of a job that hold secrets, and the list of what its log must not show. */
async function secretParts(
  context: Context,
  { job, inputs }: Pick<JobFacts, 'job' | 'inputs'>,
  deployment: DeploymentRow,
  environment: EnvironmentRow,
  template: TemplateRow,
) {
  const isDenied = isDeniedTokens(context, deployment);
  const place = { organizationId: environment.organization_id, projectId: environment.project_id };
  const code = { template, place, repository: deployment.repository };
  const [tokens, credentials, ssh, archive, reviewer, clouds, generated] = await Promise.all([
    isDenied ? noTokens : tokensForRuns(context, place),
    credentialsFor(context, code),
    sshOf(context, code, isDenied),
    archiveOf(context.db, deployment),
    // A plan has not been approved yet.
    job.phase === 'plan' ? undefined : reviewerOf(context.db, deployment.id),
    credentialsForRun(context, { job, deployment, environment }),
    generatedSecrets(context, environment.id, deployment.tool, inputs.environment),
  ]);
  const ownEnvironment = [...inputs.environment, ...generated];
  return {
    source: {
      ...sourceOf(context, deployment, template.settings, credentials),
      ...(tokens.hostCredentials.length > 0 ? { hostCredentials: tokens.hostCredentials } : {}),
      ...(ssh ? { ssh } : {}),
      ...(isDenied ? { areCredentialsForCheckoutOnly: true } : {}),
      ...archive,
    },
    ...(tokens.registryCredentials.length > 0 ? { registryCredentials: tokens.registryCredentials } : {}),
    ...(clouds.credentials.length > 0 ? { credentials: clouds.credentials } : {}),
    variables: { environment: ownEnvironment, terraform: inputs.terraform },
    systemVariables: systemVariables(deployment, {
      custom: inputs.custom ?? {},
      vcsAccessToken: (!isDenied && clones(deployment.type) && credentials?.password) || null,
      oidcToken: clouds.oidcToken,
      reviewer,
    }),
    secrets: [
      ...sensitiveValues(ownEnvironment),
      ...sensitiveValues(inputs.terraform),
      ...Object.values(inputs.custom ?? {}),
      ...(credentials ? [credentials.password] : []),
      ...tokenSecrets(tokens),
      ...(ssh?.keys ?? []),
      ...clouds.secrets,
    ],
    ...(inputs.taskPayload === undefined ? {} : { taskPayload: inputs.taskPayload }),
    ...(inputs.imports === undefined ? {} : { imports: [...inputs.imports] }),
  };
}

/** @param continues the plan's attempt, if the agent of this one held it */
export async function jobForAgent(
  context: Context,
  { job, attempt, deployment, inputs, environment, template }: JobFacts,
  continues: HeldAttempt | null,
): Promise<Job> {
  if (!deployment || !environment || !template)
    throw new Error(`Job ${job.id} has lost its deployment, environment or template`);
  const [isNew, secret, state, retry] = await Promise.all([
    isWorkspaceNew(context.db, job, environment),
    secretParts(context, { job, inputs }, deployment, environment, template),
    currentState(context.db, environment),
    job.phase === 'apply' ? retryOf(context.db, deployment, template) : {},
  ]);
  return {
    jobId: job.id,
    attempt: attempt.number,
    fence: attempt.fence,
    phase: job.phase as Job['phase'],
    deploymentId: deployment.id,
    environmentId: environment.id,
    organizationId: environment.organization_id,
    projectId: environment.project_id,
    type: deployment.type as Job['type'],
    tool: deployment.tool as Job['tool'],
    ...toolVersionOf(deployment, template),
    ...settingsOf(deployment),
    ...levelOf(deployment),
    workspaceName: environment.workspace_name,
    ...(isNew ? { isWorkspaceNew: true } : {}),
    ...(job.work_folder ? { workFolder: job.work_folder } : {}),
    ...secret,
    ...(job.phase === 'plan' && deployment.estimates_costs ? { estimatesCosts: true } : {}),
    ...(job.phase === 'plan' && !deployment.requires_approval && !deployment.has_policies
      ? { isApprovalSkipped: true }
      : {}),
    ...(job.phase === 'plan' && deployment.has_policies ? { isPolicyInputWanted: true } : {}),
    targets: deployment.targets,
    skipStateRefresh: deployment.skip_state_refresh,
    state,
    limits: limitsOf(context, deployment.type),
    ...retry,
    ...approvedOf(job, deployment, continues),
  };
}
