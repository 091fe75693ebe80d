/**
 * Facts about a run, its author and its place: the run sees them as `ENVARIUM_…` names, readers as
 * customServiceEnvironmentVariables. Most of it is stored with the request; the commit and the reviewer come
 * later.
 */
import {
  type CustomServiceEnvironmentVariables,
  customVariableNames,
} from '#contract/deployments/custom-variables.ts';
import type { Job } from '#protocol/messages/job.ts';
import { toolFacts } from '#protocol/tools/index.ts';
import { treePath } from '#protocol/work-folder-name.ts';
import { hasCredentials } from '../../../code/templates/credentials-for.ts';
import { commitUrlOf, vcsProviderOf } from '../../../code/vcs-connections/vcs-provider.ts';
import type { Connection, Context } from '../../../framework/context.ts';
import { sensitiveMask } from '../../../ground/secrets/sensitive-mask.ts';
import { issuerOf } from '../../../inputs/oidc-issuer/run-token.ts';
import type { DeploymentRow } from '../../../rows/deployments/deployment-store.ts';
import type { EnvironmentRow } from '../../../rows/environments/environment-store.ts';
import { getOrganizationRow } from '../../../rows/organizations/organization-store.ts';
import { projectPath } from '../../../rows/projects/project-store.ts';
import type { TemplateRow } from '../../../rows/templates/template-store.ts';
import type { UserRow } from '../../../rows/users/user-store.ts';

export type Facts = Record<string, string>;

/** Sources of the facts of a deployment. */
export type FactsOf = Pick<DeploymentRow, 'id' | 'type' | 'started_by' | 'git_user_data' | 'repository'>;

function person(prefix: string, user: Pick<UserRow, 'id' | 'name' | 'email'> | undefined): Facts {
  return {
    [`${prefix}Name`]: user?.name ?? '',
    [`${prefix}UserId`]: user?.id ?? '',
    [`${prefix}Email`]: user?.email ?? '',
  };
}

/** Safe in names of hosts, files and resources. */
function normalizedName(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

async function projectFacts(db: Connection, projectId: string): Promise<Facts> {
  const path = await projectPath(db, projectId);
  const parents = path.slice(0, -1);
  return {
    projectId,
    projectName: path.at(-1)?.name ?? '',
    parentProjectIds: parents.map(({ id }) => id).join('|'),
    parentProjectPath: parents.map(({ name }) => name).join('|'),
  };
}

/** Whether the run gets a token of the service. */
async function tokenFacts(context: Pick<Context, 'db' | 'settings'>, organizationId: string): Promise<Facts> {
  if (issuerOf(context) === null) return {};
  const organization = await getOrganizationRow(context.db, organizationId);
  return organization?.enable_oidc ? { oidcToken: sensitiveMask } : {};
}

/** The pull request of a plan, from the request. */
function pullRequestFacts({ type, git_user_data: git }: FactsOf): Facts {
  return {
    ...(git?.prNumber ? { prNumber: git.prNumber } : {}),
    ...(type === 'prPlan' && git?.gitUser ? { prAuthor: git.gitUser } : {}),
  };
}

/** Whether a deployment clones its repository: uploaded code has no business with the repository's token. */
export function clones(type: string): boolean {
  return type !== 'remotePlan';
}

const unreviewedTypes = ['prPlan', 'remotePlan'];

/** Whether the installation denies tokens to a deployment, because its code was not reviewed. */
export function isDeniedTokens(
  { settings }: Pick<Context, 'settings'>,
  { type }: { readonly type: string },
): boolean {
  return settings.unreviewedCodeTokens === 'none' && unreviewedTypes.includes(type);
}

/** Whether the run gets the token that its repository is read with. */
async function hasVcsToken(
  context: Pick<Context, 'db' | 'settings' | 'sealer'>,
  deployment: FactsOf,
  { environment, template }: FactSources,
): Promise<boolean> {
  if (!clones(deployment.type) || isDeniedTokens(context, deployment)) return false;
  const place = { organizationId: environment.organization_id, projectId: environment.project_id };
  return hasCredentials(context, { template, place, repository: deployment.repository });
}

/** The rows that the facts are made from; `users` has the environment's creator and who started it. */
export interface FactSources {
  readonly environment: EnvironmentRow;
  readonly template: TemplateRow;
  readonly users: ReadonlyMap<string, UserRow>;
}

/** The facts known at the time of the request. */
export async function factsAtStart(
  context: Pick<Context, 'db' | 'settings' | 'sealer'>,
  deployment: FactsOf,
  sources: FactSources,
): Promise<Facts> {
  const { environment, template, users } = sources;
  const provider = vcsProviderOf(deployment.repository, template.settings);
  return {
    environmentId: environment.id,
    environmentName: environment.name,
    environmentNameNormalized: normalizedName(environment.name),
    organizationId: environment.organization_id,
    ...(await projectFacts(context.db, environment.project_id)),
    ...(await tokenFacts(context, environment.organization_id)),
    deploymentLogId: deployment.id,
    deploymentType: deployment.type,
    workspaceName: environment.workspace_name,
    templateId: template.id,
    templateName: template.name,
    ...person('environmentCreator', users.get(environment.user_id)),
    ...person('deployer', users.get(deployment.started_by)),
    ...(environment.k8s_namespace ? { k8sNamespace: environment.k8s_namespace } : {}),
    ...(provider ? { vcsProvider: provider } : {}),
    ...((await hasVcsToken(context, deployment, sources)) ? { vcsAccessToken: sensitiveMask } : {}),
    ...pullRequestFacts(deployment),
  };
}

/** Sources of the facts of a stored deployment. */
type FactColumns = Pick<
  DeploymentRow,
  | 'id'
  | 'environment_id'
  | 'work_folder'
  | 'facts'
  | 'type'
  | 'commit_hash'
  | 'commit_to_run'
  | 'revision'
  | 'repository'
  | 'path'
  | 'tool'
  | 'targets'
  | 'skip_state_refresh'
>;

/**
 * The revision that readers see: of a destroy the commit that it takes over. A task speaks for the environment
 * afterwards, so it shows the template's revision.
 */
export function shownRevision(row: Pick<DeploymentRow, 'type' | 'commit_to_run' | 'revision'>): string {
  return (row.type === 'destroy' ? row.commit_to_run : null) ?? row.revision;
}

/** Additions of the request to the tool's own arguments; an apply gets what was planned, and nothing more. */
function argumentFacts({ tool, targets, skip_state_refresh: skipsRefresh }: FactColumns): Facts {
  const plan = toolFacts(tool)?.planArguments({ targets, skipsRefresh }) ?? [];
  return { cliArgsPlan: plan.join(' '), cliArgsApply: '' };
}

/** Folder of the code on the agent, known from the end of the first phase on. */
function placeFacts({ id, environment_id: environmentId, type, work_folder: folder }: FactColumns): Facts {
  if (folder === null) return {};
  return { rootDir: treePath(folder, { type: type as Job['type'], environmentId, deploymentId: id }) };
}

/**
 * The facts of a deployment as they are known now, before anything overrides them. @param reviewer who
 * approved it last
 */
export function knownFacts(
  row: FactColumns,
  reviewer: Pick<UserRow, 'id' | 'name' | 'email'> | undefined,
): Facts {
  const commit = row.commit_hash ?? row.commit_to_run;
  const url = commit ? commitUrlOf(row.repository, row.facts.vcsProvider, commit) : null;
  return {
    ...row.facts,
    ...person('reviewer', reviewer),
    ...argumentFacts(row),
    ...placeFacts(row),
    templateDir: row.path,
    templatePath: row.path,
    templateRepository: row.repository,
    templateRevision: shownRevision(row),
    deploymentRevision: commit ?? shownRevision(row),
    ...(commit ? { commitHash: commit } : {}),
    ...(url ? { commitUrl: url } : {}),
  };
}

/** Form for readers: all of it, the values of the request first, and no secrets. */
export function shownFacts(
  row: FactColumns & Pick<DeploymentRow, 'custom_environment_variables'>,
  reviewer: Pick<UserRow, 'id' | 'name' | 'email'> | undefined,
): CustomServiceEnvironmentVariables | null {
  const isKnown = Object.keys(row.facts).length > 0;
  const known = isKnown ? knownFacts(row, reviewer) : {};
  const requested = row.custom_environment_variables;
  const deploymentType = requested.deploymentType ?? (isKnown ? row.type : undefined);
  const shown: CustomServiceEnvironmentVariables = deploymentType ? { deploymentType } : {};
  for (const name of customVariableNames) {
    const value = requested[name] ?? known[name];
    if (value !== undefined) shown[name] = value;
  }
  return Object.keys(shown).length > 0 ? shown : null;
}
