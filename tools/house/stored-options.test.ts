/**
 * An option that is stored and has no effect says so. Every field of a body is marked in the contract, or one of these
 * lists names the file that acts on it, or says that people only read it. A name that many things have proves nothing,
 * so no one searches for uses: a new field needs a mark, or a line in `effects` of its family's samples
 * (`server/testing/samples`), or here if several families have it.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type JsonSchema, jsonSchemaOf } from '#contract/documents/describe-schema.ts';
import { operations } from '#contract/operations.ts';
import type { Operation } from '#contract/schema/operation.ts';
import { readSamples } from '../../server/testing/samples.ts';
import { root } from '../tree/repository.ts';

/** Statements of the families about their own fields. */
const ofFamilies = new Map<string, string | null>();
for (const { effects = {} } of await readSamples())
  for (const [name, file] of Object.entries(effects)) ofFamilies.set(name, file);

/** File that acts on a field: not one that only stores or shows it. */
const actsOn: Readonly<Record<string, string>> = {
  acceptOtherLineage: 'server/src/runs/state/roll-back-or-promote.ts',
  accessibleFromEntireOrganization: 'server/src/runs/state/state-access.ts',
  allowedProjectIds: 'server/src/runs/state/state-access.ts',
  ansibleVersion: 'protocol/src/tools/ansible.ts',
  assign: 'server/src/inputs/configuration-sets/change-assignments.ts',
  assignments: 'server/src/identity/roles/team-assignment-routes.ts',
  bitbucketClientKey: 'server/src/code/vcs-connections/vcs-provider.ts',
  blueprintId: 'server/src/runs/deployments/requests/read-source.ts',
  blueprintRepository: 'server/src/runs/deployments/requests/read-source.ts',
  blueprintRevision: 'server/src/runs/deployments/requests/read-source.ts',
  code: 'server/src/identity/single-sign-on/sign-in.ts',
  codeChallenge: 'server/src/identity/single-sign-on/sign-in.ts',
  codeVerifier: 'server/src/identity/single-sign-on/sign-in.ts',
  configurationChanges: 'server/src/runs/deployments/requests/read-deploy-request.ts',
  configurationProperties: 'server/src/inputs/configuration-sets/change-set.ts',
  configurationPropertiesChanges: 'server/src/inputs/configuration-sets/change-set.ts',
  configurationSetChanges: 'server/src/runs/deployments/requests/read-deploy-request.ts',
  creationScope: 'server/src/runs/environments/create-environment.ts',
  creationScopeId: 'server/src/runs/environments/create-environment.ts',
  cron: 'server/src/runs/schedules/cron.ts',
  currentPassword: 'server/src/identity/sign-in/change-password.ts',
  data: 'server/src/automation/bulk-operations/start-bulk-operation.ts',
  defaultTtl: 'server/src/tenancy/lifetimes/lifespan.ts',
  deploy: 'server/src/runs/schedules/update-schedule.ts',
  deploymentType: 'server/src/automation/bulk-operations/act-on-environment.ts',
  deploymentId: 'server/src/runs/deployments/policy-check/policy-test-routes.ts',
  deployRequest: 'server/src/runs/environments/create-environment.ts',
  destroy: 'server/src/runs/schedules/update-schedule.ts',
  disableDestroyEnvironments: 'server/src/tenancy/lifetimes/lifespan.ts',
  downstreamEnvironmentIds: 'server/src/automation/triggers/change-downstream.ts',
  driftDetectionCron: 'server/src/runs/schedules/family.ts',
  driftDetectionEnabled: 'server/src/runs/environments/policy-defaults.ts',
  driftDetectionRequest: 'server/src/runs/environments/check-create-request.ts',
  email: 'server/src/identity/people/invite.ts',
  enabled: 'server/src/runs/schedules/update-schedule.ts',
  enableOidc: 'server/src/runs/deployments/views/deployment-facts.ts',
  enum: 'server/src/inputs/variables/check-variable.ts',
  environmentId: 'server/src/identity/roles/assign-role.ts',
  environmentIds: 'server/src/automation/bulk-operations/start-bulk-operation.ts',
  envName: 'server/src/runs/deployments/requests/read-settings.ts',
  errorRegex: 'agent/src/runner/phases/run-with-retries.ts',
  eventNames: 'server/src/automation/notifications/assignment-routes.ts',
  expiresAt: 'server/src/identity/api-keys/key-limits.ts',
  fileName: 'protocol/src/tools/cloudformation/arguments.ts',
  files: 'server/src/runs/deployments/policy-check/policy-test-routes.ts',
  forceCheckoutOnTtlDestroy: 'server/src/runs/deployments/new-deployment.ts',
  forceRemoteBackend: 'server/src/runs/environments/policy-defaults.ts',
  format: 'server/src/inputs/variables/check-variable.ts',
  githubInstallationId: 'server/src/code/vcs-connections/vcs-provider.ts',
  gitUser: 'server/src/runs/deployments/views/deployment-facts.ts',
  gitUserData: 'server/src/runs/deployments/views/deployment-facts.ts',
  helmChartName: 'agent/src/drivers/helm/chart.ts',
  hosts: 'server/src/code/git-tokens/require-token-for.ts',
  id: 'server/src/inputs/variables/apply-variable-changes.ts',
  importUnrecorded: 'server/src/runs/deployments/requests/check-deploy-request.ts',
  includeCostEstimation: 'server/src/runs/deployments/new-deployment.ts',
  isArchived: 'server/src/runs/deployments/decisions/decide-start.ts',
  isAzureDevOps: 'server/src/code/vcs-connections/vcs-provider.ts',
  isBitbucketServer: 'server/src/code/vcs-connections/vcs-provider.ts',
  isDefaultRole: 'server/src/identity/roles/change-role.ts',
  isDefaultTeam: 'server/src/identity/teams/change-team.ts',
  isGitHubEnterprise: 'server/src/code/vcs-connections/vcs-provider.ts',
  isGitLab: 'server/src/code/vcs-connections/vcs-provider.ts',
  isGitLabEnterprise: 'server/src/code/vcs-connections/vcs-provider.ts',
  isHelmRepository: 'server/src/runs/dispatch/job-for-agent.ts',
  isLocked: 'server/src/runs/deployments/decisions/decide-start.ts',
  isReadonly: 'server/src/inputs/variables/check-variable.ts',
  isRemoteBackend: 'server/src/runs/dispatch/job-for-agent.ts',
  isRequired: 'server/src/inputs/variables/unusable-value.ts',
  isSensitive: 'server/src/inputs/variables/apply-variable-changes.ts',
  isTerragruntRunAll: 'agent/src/drivers/terragrunt/driver.ts',
  k8sNamespace: 'protocol/src/tools/kubernetes-variables.ts',
  lockId: 'server/src/runs/state/lock-state.ts',
  maxTtl: 'server/src/tenancy/lifetimes/lifespan.ts',
  networks: 'server/src/identity/api-keys/key-limits.ts',
  newName: 'server/src/runs/environments/set-environment-template.ts',
  newPassword: 'server/src/identity/sign-in/change-password.ts',
  numberOfEnvironments: 'server/src/tenancy/project-policies/environment-limits.ts',
  numberOfEnvironmentsTotal: 'server/src/tenancy/project-policies/environment-limits.ts',
  onDeploy: 'guards/src/retry-rule.ts',
  onDestroy: 'guards/src/retry-rule.ts',
  opentofuVersion: 'protocol/src/tools/opentofu.ts',
  organizationId: 'server/src/framework/access/check-right.ts',
  organizationRole: 'server/src/identity/roles/grant-permissions.ts',
  outputsAsInputsEnabled: 'server/src/runs/deployments/inputs-from-outputs/resolve-outputs.ts',
  ownerId: 'server/src/identity/api-keys/change-api-key.ts',
  parentProjectId: 'server/src/tenancy/projects/move-project.ts',
  password: 'server/src/identity/sign-in/hash-password.ts',
  path: 'server/src/code/templates/check-source.ts',
  permissions: 'server/src/identity/people/invite.ts',
  planHashes: 'server/src/automation/bulk-operations/start-bulk-operation.ts',
  planHash: 'server/src/runs/deployments/decisions/decide-action.ts',
  policyConfiguration: 'server/src/runs/deployments/policy-check/policy-test-routes.ts',
  policyId: 'server/src/runs/deployments/policy-check/policy-test-routes.ts',
  preventAutoDeploy: 'server/src/runs/environments/create-environment.ts',
  prNumber: 'server/src/runs/deployments/views/deployment-facts.ts',
  projectId: 'server/src/rows/entity-home.ts',
  projectIds: 'server/src/runs/environments/create-environment.ts',
  projectRole: 'server/src/identity/roles/grant-permissions.ts',
  projectsPermissions: 'server/src/identity/roles/grant-permissions.ts',
  pulumiVersion: 'protocol/src/tools/pulumi.ts',
  redirectUri: 'server/src/identity/single-sign-on/sign-in.ts',
  regex: 'server/src/inputs/variables/check-variable.ts',
  repository: 'server/src/code/templates/check-source.ts',
  requiresApproval: 'server/src/runs/deployments/approval/approval-at-start.ts',
  requiresApprovalDefault: 'server/src/runs/environments/policy-defaults.ts',
  retry: 'guards/src/retry-rule.ts',
  revision: 'agent/src/sources/git-checkout.ts',
  role: 'server/src/framework/access/grant.ts',
  schema: 'server/src/inputs/variables/check-variable.ts',
  scope: 'server/src/rules/custom-flows/assign.ts',
  scopeId: 'server/src/rules/custom-flows/assign.ts',
  selfApprovalForbidden: 'server/src/runs/deployments/decisions/decide-approver.ts',
  skipApplyWhenPlanIsEmpty: 'server/src/runs/deployments/transitions/skipped-apply.ts',
  skipRedundantDeployments: 'server/src/runs/deployments/transitions/advance-queue.ts',
  skipStateRefresh: 'agent/src/drivers/terraform/commands.ts',
  sourceId: 'server/src/runs/deployments/requests/check-deploy-request.ts',
  sshKeys: 'agent/src/sources/git-checkout.ts',
  state: 'server/src/identity/single-sign-on/sign-in.ts',
  subEnvironmentAlias: 'server/src/runs/deployments/requests/check-deploy-request.ts',
  subEnvironments: 'server/src/runs/deployments/requests/check-deploy-request.ts',
  tags: 'server/src/runs/environments/list-environments.ts',
  targetProjectId: 'server/src/tenancy/projects/move-project.ts',
  targets: 'agent/src/drivers/terraform/commands.ts',
  taskPayload: 'agent/src/runner/phases/task-phase.ts',
  teamId: 'server/src/identity/roles/team-assignment-routes.ts',
  terraformVersion: 'protocol/src/tools/terraform.ts',
  terragruntTfBinary: 'protocol/src/tools/terragrunt.ts',
  terragruntVersion: 'protocol/src/tools/terragrunt.ts',
  terragruntWorkingDirectory: 'server/src/runs/deployments/new-deployment.ts',
  times: 'agent/src/runner/phases/run-with-retries.ts',
  timeZone: 'server/src/runs/schedules/cron.ts',
  toDelete: 'server/src/inputs/variables/apply-variable-changes.ts',
  token: 'server/src/identity/people/accept-invitation.ts',
  tokenId: 'server/src/code/templates/credentials-for.ts',
  triggerName: 'server/src/runs/deployments/requests/read-deploy-request.ts',
  ttl: 'server/src/runs/deployments/requests/read-settings.ts',
  type: 'server/src/framework/http/request-parts.ts',
  unassign: 'server/src/inputs/configuration-sets/change-assignments.ts',
  upstreamEnvironmentId: 'server/src/runs/deployments/requests/check-deploy-request.ts',
  url: 'server/src/code/vcs-connections/vcs-connection-routes.ts',
  userId: 'server/src/identity/roles/assign-role.ts',
  userIds: 'server/src/identity/teams/change-team.ts',
  userRequiresApproval: 'server/src/runs/deployments/new-deployment.ts',
  value: 'server/src/inputs/variables/check-variable.ts',
  vcsConnectionId: 'server/src/code/templates/credentials-for.ts',
  webhookSecret: 'server/src/automation/notifications/endpoint-routes.ts',
  workflowDeploymentId: 'server/src/runs/deployments/requests/check-deploy-request.ts',
  workspaceName: 'agent/src/drivers/terraform/commands.ts',
};

/** Fields that people and clients read, without an effect. */
const onlyRead: readonly string[] = [
  'comment',
  'description',
  'gitAvatarUrl',
  'isOutput',
  'name',
  'photoUrl',
  'picture',
  'reason',
  'tokenName',
];

/** Fields of rows that clients send back as they have read them; the contract accepts them and says so. */
const sentBack: readonly string[] = [
  'createdAt',
  'isEdited',
  'isSingleUse',
  'order',
  'originalVariableScope',
  'overwrites',
  'updatedAt',
];

/** Shapes whose fields all mean the same. */
const shapes: readonly string[] = [
  // The run gets all that are not marked as variables.
  'CustomServiceEnvironmentVariables',
  // Each type has its own required fields; types without an effect are marked.
  'CredentialValue',
  // Refused, as nothing is a workflow yet.
  'WorkflowDeploymentOptions',
];

type Marked = JsonSchema & { readonly 'x-no-effect'?: string; readonly 'x-ignored'?: string };

/** Marked with some of its values only, a field is marked, too: the others have an effect. */
function isMarked(schema: Marked): boolean {
  const text = schema['x-no-effect'] ?? schema['x-ignored'] ?? '';
  return text !== '' || schema.description?.startsWith('Ignored') === true;
}

/** Every request has the warning, whatever else it contains. */
function hasRequiredMark({ required = [], properties = {} }: JsonSchema): boolean {
  return required.some((name) => {
    const field = (properties[name] ?? {}) as Marked & { 'x-no-effect-values'?: unknown };
    return field['x-no-effect'] !== undefined && field['x-no-effect-values'] === undefined;
  });
}

/** The names of the fields that are not marked, at any depth. */
function unmarkedIn(schema: JsonSchema): string[] {
  if (isMarked(schema) || hasRequiredMark(schema) || shapes.includes(schema.title ?? '')) return [];
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    isMarked(field) || shapes.includes(field.title ?? '') ? [] : [name, ...unmarkedIn(field)],
  );
  const { additionalProperties: rest } = schema;
  const inner = [schema.items ?? [], schema.anyOf ?? [], typeof rest === 'object' ? rest : []].flat();
  return [...own, ...inner.flatMap(unmarkedIn)];
}

const all = Object.values(operations) as Operation[];
const unmarked = new Set(
  all.flatMap(({ body }) => (body === undefined ? [] : unmarkedIn(jsonSchemaOf(body)))),
);
const known = new Set([...Object.keys(actsOn), ...ofFamilies.keys(), ...onlyRead, ...sentBack]);

test('each field of a body has an effect, or is marked as one without', () => {
  assert.ok(unmarked.size > 150, String(unmarked.size));
  assert.deepEqual([...unmarked].filter((name) => !known.has(name)).toSorted(), []);
});

test('the lists have no field that is marked or gone', () => {
  assert.deepEqual([...known].filter((name) => !unmarked.has(name)).toSorted(), []);
});

test('the file that acts on a field mentions it, and does more than showing it', () => {
  const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const wrong = [...Object.entries(actsOn), ...ofFamilies].filter(([name, file]) => {
    if (file === null) return false;
    const text = readFileSync(join(root, file), 'utf8');
    return !new RegExp(`\\b(${name}|${snake(name)})\\b`).test(text) || /-view\.ts$|columns\.ts$/.test(file);
  });
  assert.deepEqual(wrong, []);
});
