/**
 * The tables as types: generated from `migrations/` and the `columns.ts` of the families by
 * `npm run generate`.
 * sources eae0d4fcd9d1a4517768d2b4e4903d67c79bfc039592616e588c520a1344d6c1
 */
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { Columns as Agents } from './agents/columns.ts';
import type { Columns as ApprovalPolicies } from './approval-policies/columns.ts';
import type { Columns as AuditLog } from './audit-log/columns.ts';
import type { Columns as BulkOperations } from './bulk-operations/columns.ts';
import type { Columns as ConfigurationSets } from './configuration-sets/columns.ts';
import type { Columns as Costs } from './costs/columns.ts';
import type { Columns as Credentials } from './credentials/columns.ts';
import type { Columns as CustomFlows } from './custom-flows/columns.ts';
import type { Columns as Deployments } from './deployments/columns.ts';
import type { Columns as Discovery } from './discovery/columns.ts';
import type { Columns as Dispatch } from './dispatch/columns.ts';
import type { Columns as Environments } from './environments/columns.ts';
import type { Columns as GitTokens } from './git-tokens/columns.ts';
import type { Columns as Logs } from './logs/columns.ts';
import type { Columns as Notifications } from './notifications/columns.ts';
import type { Columns as OidcIssuer } from './oidc-issuer/columns.ts';
import type { Columns as Organizations } from './organizations/columns.ts';
import type { Columns as People } from './people/columns.ts';
import type { Columns as ProjectPolicies } from './project-policies/columns.ts';
import type { Columns as Registry } from './registry/columns.ts';
import type { Columns as Roles } from './roles/columns.ts';
import type { Columns as Schedules } from './schedules/columns.ts';
import type { Columns as Scim } from './scim/columns.ts';
import type { Columns as SignIn } from './sign-in/columns.ts';
import type { Columns as Sources } from './sources/columns.ts';
import type { Columns as State } from './state/columns.ts';
import type { Columns as Templates } from './templates/columns.ts';
import type { Columns as Variables } from './variables/columns.ts';
import type { Columns as VcsConnections } from './vcs-connections/columns.ts';

/** Reading a JSON column gives its value, writing takes JSON text. */
type Json<T> = ColumnType<T, string, string>;
type JsonOrNull<T> = ColumnType<T | null, string | null | undefined, string | null>;
type JsonWithDefault<T> = ColumnType<T, string | undefined, string>;

export interface AgentTable {
  agent_key: string;
  created_at: Generated<Date>;
  created_by: string;
  deleted_at: Date | null;
  description: string | null;
  id: string;
  is_default: Generated<boolean>;
  is_shared: Generated<boolean>;
  logs: JsonOrNull<Agents['agent.logs']>;
  name: string;
  organization_id: string;
  updated_at: Generated<Date>;
}

export interface AgentProcessTable {
  agent_key: string;
  boot_id: string;
  condition: JsonOrNull<Agents['agent_process.condition']>;
  contact_at: Generated<Date>;
  epoch: Generated<number>;
  hostname: string;
  id: string;
  isolation: Json<Agents['agent_process.isolation']>;
  process_id: number;
  registered_at: Generated<Date>;
  said_goodbye: Generated<boolean>;
  slots: number;
  spool_id: string;
  tools: string[];
  version: string;
  work_folder: string;
}

export interface AgentSecretTable {
  agent_key: string;
  created_at: Generated<Date>;
  created_by: string;
  description: string | null;
  expires_at: Date | null;
  id: string;
  last_used_at: Date | null;
  secret_hmac: Buffer;
}

export interface ApiKeyTable {
  created_at: Generated<Date>;
  created_by: string | null;
  description: Generated<string>;
  expires_at: Date | null;
  id: string;
  is_bootstrap: Generated<boolean>;
  last_used_at: Date | null;
  name: string;
  networks: Generated<string[]>;
  organization_id: string | null;
  owner_id: string | null;
  second_secret_created_at: Date | null;
  second_secret_hmac: Buffer | null;
  second_secret_id: string | null;
  second_secret_used_at: Date | null;
  secret_created_at: Generated<Date>;
  secret_hmac: Buffer;
  secret_id: Generated<string>;
  secret_used_at: Date | null;
  user_id: string;
}

export interface AppUserTable {
  api_key_type: string | null;
  created_at: Generated<Date>;
  created_by: string | null;
  deleted_at: Date | null;
  email: string;
  family_name: string | null;
  given_name: string | null;
  id: string;
  is_api_key: Generated<boolean>;
  is_blocked: Generated<boolean>;
  is_email_verified: Generated<boolean>;
  last_login: Date | null;
  name: string;
  picture: string | null;
  updated_at: Generated<Date>;
}

export interface AttemptTable {
  agent_process_id: string;
  claimed_at: Generated<Date>;
  ended_at: Date | null;
  events_stored: Generated<number>;
  fence: number;
  finish_failures: Generated<number>;
  job_id: string;
  log_bases: JsonWithDefault<Dispatch['attempt.log_bases']>;
  mark: string | null;
  missed_lists: Generated<number>;
  number: number;
  outcome_sha256: string | null;
  received_at: Date | null;
  sent_at: Date | null;
  state_version_id: string | null;
  status: Dispatch['attempt.status'];
}

export interface AttemptBlobTable {
  attempt: number;
  blob: Json<Dispatch['attempt_blob.blob']>;
  job_id: string;
  name: string;
}

export interface AuditEventTable {
  action: string;
  actor_id: string;
  address: string | null;
  after: JsonOrNull<AuditLog['audit_event.after']>;
  at: Generated<Date>;
  before: JsonOrNull<AuditLog['audit_event.before']>;
  details: JsonWithDefault<AuditLog['audit_event.details']>;
  entity: string;
  entity_id: string;
  id: Generated<string>;
  key_id: string | null;
  mac: Buffer;
  number: GeneratedAlways<number>;
  organization_id: string | null;
  project_id: string | null;
  request_id: string | null;
}

export interface AuditHeadTable {
  chain: string;
  hash: Buffer;
  mac: Buffer;
  number: number;
  progress: JsonOrNull<AuditLog['audit_head.progress']>;
}

export interface AuditLinkTable {
  action: string;
  actor_id: string;
  at: Date;
  chain: string;
  content_hash: Buffer;
  entity: string;
  entity_id: string;
  event_id: string;
  event_number: number;
  hash: Buffer;
  number: number;
  position: number;
  previous_hash: Buffer;
  project_id: string | null;
  root_hash: Buffer;
}

export interface BudgetTable {
  amount: number;
  id: string;
  project_id: string;
  thresholds: number[];
  timeframe: Costs['budget.timeframe'];
  updated_at: Date;
  updated_by: string;
}

export interface BulkOperationTable {
  address: string | null;
  created_at: Date;
  created_by: string;
  finished_at: Date | null;
  id: string;
  key_id: string | null;
  kind: BulkOperations['bulk_operation.kind'];
  organization_id: string;
  request_id: string;
  sealed_data: Buffer | null;
}

export interface BulkOperationItemTable {
  deployment_id: string | null;
  environment_id: string;
  error: string | null;
  finished_at: Date | null;
  operation_id: string;
  position: number;
  status: Generated<BulkOperations['bulk_operation_item.status']>;
  waiting_deployment_id: string | null;
  waiting_plan_hash: string | null;
}

export interface CliCodeTable {
  code_challenge: string;
  code_sha256: Buffer;
  expires_at: Date;
  redirect_uri: string;
  user_id: string;
  way: SignIn['cli_code.way'];
}

export interface ConfigurationSetTable {
  created_at: Date;
  created_by: string;
  deleted_at: Date | null;
  description: Generated<string>;
  id: string;
  name: string;
  organization_id: string;
  project_id: string | null;
  updated_at: Date;
}

export interface ConfigurationSetAssignmentTable {
  assigned_at: Date;
  assigned_by: string;
  number: GeneratedAlways<number>;
  scope: ConfigurationSets['configuration_set_assignment.scope'];
  scope_id: string;
  set_id: string;
}

export interface CostCredentialAssignmentTable {
  created_at: Date;
  created_by: string;
  credential_id: string;
  project_id: string;
}

export interface CredentialTable {
  created_at: Date;
  created_by: string;
  id: string;
  name: string;
  organization_id: string;
  project_id: string | null;
  sealed_value: Buffer;
  type: Credentials['credential.type'];
  updated_at: Date;
}

export interface CredentialAssignmentTable {
  created_at: Date;
  created_by: string;
  credential_id: string;
  id: string;
  project_id: string;
}

export interface DefaultAgentTable {
  agent_key: string;
  organization_id: string;
}

export interface DeploymentTable {
  abort_reason: string | null;
  abort_requested_at: Date | null;
  aborted_by: string | null;
  approval_at_start: Json<Deployments['deployment.approval_at_start']>;
  approval_decided_by: Deployments['deployment.approval_decided_by'];
  approved_parts: JsonOrNull<Deployments['deployment.approved_parts']>;
  caused_by: string | null;
  comment: string | null;
  commit_hash: string | null;
  commit_to_run: string | null;
  cost_estimation: JsonOrNull<Deployments['deployment.cost_estimation']>;
  custom_environment_variables: JsonWithDefault<Deployments['deployment.custom_environment_variables']>;
  diagnostics: JsonOrNull<Deployments['deployment.diagnostics']>;
  drift_cause: JsonOrNull<Deployments['deployment.drift_cause']>;
  drift_detected: boolean | null;
  drift_remediation: Deployments['deployment.drift_remediation'] | null;
  environment_id: string;
  error: JsonOrNull<Deployments['deployment.error']>;
  estimates_costs: Generated<boolean>;
  facts: JsonWithDefault<Deployments['deployment.facts']>;
  failed_command: string | null;
  finished_at: Date | null;
  follows_last_deploy: Generated<boolean>;
  git_metadata: JsonOrNull<Deployments['deployment.git_metadata']>;
  git_user_data: JsonOrNull<Deployments['deployment.git_user_data']>;
  has_changes: boolean | null;
  has_policies: Generated<boolean>;
  has_resource_changes: boolean | null;
  id: string;
  is_scheduled_run: Generated<boolean>;
  is_skipped_apply: boolean | null;
  level: JsonOrNull<Deployments['deployment.level']>;
  module_versions: JsonOrNull<Deployments['deployment.module_versions']>;
  number: GeneratedAlways<number>;
  organization_id: string;
  output: JsonOrNull<Deployments['deployment.output']>;
  path: string;
  plan: JsonOrNull<Deployments['deployment.plan']>;
  plan_hash: string | null;
  plan_summary: JsonOrNull<Deployments['deployment.plan_summary']>;
  planned_on_state_version_id: string | null;
  planned_units: JsonOrNull<Deployments['deployment.planned_units']>;
  project_id: string;
  provider_versions: JsonOrNull<Deployments['deployment.provider_versions']>;
  queued_at: Generated<Date>;
  remediation: JsonOrNull<Deployments['deployment.remediation']>;
  repository: string;
  requested_by: string | null;
  requires_approval: boolean;
  resource_count: Generated<number>;
  resources: JsonOrNull<Deployments['deployment.resources']>;
  revision: string;
  run_settings: JsonOrNull<Deployments['deployment.run_settings']>;
  sealed_inputs: Buffer | null;
  sealed_output: Buffer | null;
  skip_state_refresh: Generated<boolean>;
  skipped_for: string | null;
  source_id: string | null;
  started_at: Date | null;
  started_by: string;
  state_file_hash: string | null;
  state_version_id: string | null;
  status: Deployments['deployment.status'];
  targets: Generated<string[]>;
  template_id: string;
  template_name: string;
  tool: Deployments['deployment.tool'];
  tool_version: string | null;
  trigger: Deployments['deployment.trigger'];
  type: Deployments['deployment.type'];
  unrecorded_resources: JsonOrNull<Deployments['deployment.unrecorded_resources']>;
  updated_at: Generated<Date>;
  upstream_environment_id: string | null;
  variables: JsonWithDefault<Deployments['deployment.variables']>;
  work_folder: string | null;
  workflow_deployment_id: string | null;
  workflow_deployment_options: JsonOrNull<Deployments['deployment.workflow_deployment_options']>;
}

export interface DeploymentEventTable {
  data: Json<unknown>;
  deployment_id: string;
  name: string;
  number: GeneratedAlways<number>;
}

export interface DeploymentLevelTable {
  applied_at: Date;
  approved_parts: JsonOrNull<Deployments['deployment_level.approved_parts']>;
  deployment_id: string;
  has_changes: boolean | null;
  has_resource_changes: boolean | null;
  number: number;
  plan: JsonOrNull<Deployments['deployment_level.plan']>;
  plan_hash: string | null;
  plan_summary: JsonOrNull<Deployments['deployment_level.plan_summary']>;
  planned_units: JsonOrNull<Deployments['deployment_level.planned_units']>;
}

export interface DeploymentStepTable {
  completed_at: Date | null;
  deployment_id: string;
  id: string;
  log_bytes: Generated<number>;
  name: string;
  position: number;
  retry_count: Generated<number>;
  started_at: Date | null;
  status: Generated<Logs['deployment_step.status']>;
}

export interface DiscoveryTable {
  auto_deploy_by_custom_glob: string | null;
  created_at: Date;
  creates_from_pull_requests: Generated<boolean>;
  environment_placement: Discovery['discovery.environment_placement'] | null;
  glob_pattern: string | null;
  next_poll_at: Date;
  on_removal: Discovery['discovery.on_removal'];
  project_id: string;
  removal_limit_percent: number;
  repository_regex: string | null;
  root_path: string | null;
  scanned_commit: string | null;
  scanned_version: number | null;
  template_id: string;
  type: Discovery['discovery.type'] | null;
  updated_at: Date;
  updated_by: string;
  version: Generated<number>;
  workspace_naming: Discovery['discovery.workspace_naming'] | null;
}

export interface DiscoveryFolderTable {
  environment_id: string | null;
  environment_name: string | null;
  environment_project_id: string | null;
  file: string;
  file_id: string;
  folder: string;
  kind: Generated<Discovery['discovery_folder.kind']>;
  project_id: string;
  reason: string | null;
  renamed_from: string | null;
  repository: string;
  sealed_entry: Buffer | null;
  status: Discovery['discovery_folder.status'];
  tree_id: string;
  variable_names: Generated<string[]>;
  workspace_name: string | null;
}

export interface DiscoveryScanTable {
  cause: Discovery['discovery_scan.cause'];
  commit_hash: string | null;
  created: Generated<number>;
  created_at: Date;
  error: string | null;
  failed: Generated<number>;
  files: number | null;
  finished_at: Date | null;
  id: string;
  is_forced: Generated<boolean>;
  is_unchanged: Generated<boolean>;
  listed_at: Date | null;
  matched: number | null;
  passed_over_count: Generated<number>;
  project_id: string;
  removed: Generated<number>;
  status: Generated<Discovery['discovery_scan.status']>;
  version: number;
}

export interface DownstreamTable {
  created_at: Date;
  created_by: string;
  downstream_id: string;
  last_at: Date | null;
  last_cause_id: string | null;
  last_deployment_id: string | null;
  last_reason: string | null;
  upstream_id: string;
}

export interface EffectTable {
  attempts: Generated<number>;
  created_at: Generated<Date>;
  due_at: Date;
  failed_at: Date | null;
  id: string;
  kind: string;
  last_error: string | null;
  payload: Json<unknown>;
}

export interface EnvironmentTable {
  approval_lifted_by: string | null;
  auto_deploy_by_custom_glob: string | null;
  auto_deploy_on_path_changes_only: Generated<boolean>;
  configuration_set_ids: Generated<string[]>;
  continuous_deployment: Generated<boolean>;
  created_at: Generated<Date>;
  current_state_version_id: string | null;
  description: string | null;
  drift_status: Generated<Environments['environment.drift_status']>;
  has_downstream: Generated<boolean>;
  id: string;
  is_archived: Generated<boolean>;
  is_locked: Generated<boolean>;
  is_remote_apply_enabled: Generated<boolean>;
  is_remote_backend: Generated<boolean>;
  is_single_use_template: Generated<boolean>;
  k8s_namespace: string | null;
  latest_deployment_id: string | null;
  lifespan_end_at: Date | null;
  lock_reason: string | null;
  locked_at: Date | null;
  locked_by: string | null;
  marked_for_auto_destroy: Generated<Environments['environment.marked_for_auto_destroy']>;
  name: string;
  next_ttl_at: Date | null;
  organization_id: string;
  project_id: string;
  pull_request_plan_deployments: Generated<boolean>;
  requires_approval: boolean;
  resting_status: Environments['environment.resting_status'];
  search_text: Generated<string>;
  status: Environments['environment.status'];
  tags: Generated<string[]>;
  template_id: string;
  template_repository: string | null;
  template_revision: string | null;
  terragrunt_working_directory: string | null;
  ttl: JsonOrNull<Environments['environment.ttl']>;
  ttl_attempts: Generated<number>;
  ttl_problem: string | null;
  ttl_set_by: string | null;
  updated_at: Generated<Date>;
  user_id: string;
  vcs_commands_alias: string | null;
  vcs_pr_comments_enabled: boolean | null;
  workflow_environment_id: string | null;
  workspace_name: string;
}

export interface EnvironmentCountTable {
  environments: number;
  is_archived: boolean;
  organization_id: string;
  project_id: string;
}

export interface EnvironmentSecretTable {
  created_at: Generated<Date>;
  environment_id: string;
  name: string;
  sealed_value: Buffer;
}

export interface FlowAssignmentTable {
  created_at: Date;
  created_by: string;
  id: string;
  position: number | null;
  scope: CustomFlows['flow_assignment.scope'];
  scope_id: string;
  template_id: string;
}

export interface GitTokenTable {
  created_at: Generated<Date>;
  created_by: string;
  hosts: Generated<string[]>;
  id: string;
  name: string;
  organization_id: string;
  project_ids: Generated<string[]>;
  sealed_value: Buffer;
  type: Generated<GitTokens['git_token.type']>;
  updated_at: Generated<Date>;
}

export interface GpgKeyTable {
  content: string;
  created_at: Date;
  created_by: string;
  id: string;
  key_id: string;
  name: string;
  organization_id: string;
}

export interface IdempotencyKeyTable {
  actor_id: string;
  created_at: Generated<Date>;
  key: string;
  request_sha256: string;
  sealed_reply: Buffer | null;
}

export interface InstallationTable {
  blob_folder_id: string | null;
  created_at: Generated<Date>;
  id: string;
  only: Generated<boolean>;
  sealing_check: Buffer;
}

export interface InvitationTable {
  accepted_at: Date | null;
  created_at: Date;
  created_by: string;
  email: string;
  expires_at: Date;
  id: string;
  organization_id: string;
  permissions: Json<People['invitation.permissions']>;
  revoked_at: Date | null;
  secret_hmac: Buffer;
  user_id: string;
}

export interface JobTable {
  attempts: Generated<number>;
  class: number;
  created_at: Generated<Date>;
  deployment_id: string;
  id: string;
  level: Generated<number>;
  phase: Dispatch['job.phase'];
  rank_at: Date;
  status: Dispatch['job.status'];
  tool: string;
  work_folder: string | null;
}

export interface LogChunkTable {
  bytes: Buffer;
  first_byte: number;
  step_id: string;
  stored_at: Generated<Date>;
}

export interface NotificationAssignmentTable {
  created_at: Date;
  created_by: string;
  endpoint_id: string;
  event_names: Notifications['notification_assignment.event_names'];
  id: string;
  organization_id: string;
  project_id: string;
}

export interface NotificationAttemptTable {
  delivery_id: string;
  duration_ms: number;
  error: JsonOrNull<Notifications['notification_attempt.error']>;
  number: number;
  response: JsonOrNull<Notifications['notification_attempt.response']>;
  started_at: Date;
}

export interface NotificationDeliveryTable {
  attempts: Generated<number>;
  created_at: Date;
  delivered_to: string[] | null;
  deployment_id: string | null;
  due_at: Date;
  endpoint_id: string;
  environment_id: string | null;
  event_id: string;
  event_name: Notifications['notification_delivery.event_name'];
  facts: Json<Notifications['notification_delivery.facts']>;
  finished_at: Date | null;
  give_up_at: Date;
  id: string;
  last_error: string | null;
  last_request: JsonOrNull<Notifications['notification_delivery.last_request']>;
  organization_id: string;
  project_id: string;
  status: Notifications['notification_delivery.status'];
}

export interface NotificationEndpointTable {
  created_at: Date;
  created_by: string;
  failures: Generated<number>;
  id: string;
  name: string;
  organization_id: string;
  paused_until: Date | null;
  sealed_value: Buffer;
  sealed_webhook_secret: Buffer | null;
  type: Notifications['notification_endpoint.type'];
  updated_at: Date;
}

export interface OidcIdentityTable {
  created_at: Generated<Date>;
  issuer: string;
  last_sign_in_at: Generated<Date>;
  subject: string;
  user_id: string;
}

export interface OidcKeyTable {
  created_at: Date;
  id: string;
  public_key: Json<OidcIssuer['oidc_key.public_key']>;
  sealed_private_key: Buffer;
  signs_from: Date;
}

export interface OidcRequestTable {
  expires_at: Date;
  sealed_details: Buffer;
  state_sha256: Buffer;
}

export interface OrganizationTable {
  access_version: Generated<number>;
  allow_mergeable_bypass_for_pr_apply: Generated<boolean>;
  allow_service_secrets: Generated<boolean>;
  created_at: Generated<Date>;
  created_by: string;
  default_ttl: string | null;
  description: string | null;
  disable_pr_comments: Generated<boolean>;
  do_not_consider_merge_commits_for_pr_plans: Generated<boolean>;
  do_not_report_skipped_status_checks: Generated<boolean>;
  enable_oidc: Generated<boolean>;
  enforce_pr_commenter_permissions: Generated<boolean>;
  id: string;
  max_ttl: string | null;
  name: string;
  photo_url: string | null;
  project_custom_flows_policy: Generated<string>;
  require_approval_for_pr_applies: Generated<boolean>;
  updated_at: Generated<Date>;
}

export interface OrganizationEventTable {
  at: Generated<Date>;
  data: Json<unknown>;
  deployment_id: string | null;
  environment_id: string | null;
  name: string;
  number: GeneratedAlways<number>;
  organization_id: string;
  project_id: string | null;
  transaction: Generated<string>;
}

export interface OrganizationMemberTable {
  created_at: Generated<Date>;
  id: Generated<string>;
  organization_id: string;
  role: string;
  source: string | null;
  status: Generated<Organizations['organization_member.status']>;
  user_id: string;
}

export interface PasswordTable {
  changed_at: Generated<Date>;
  sealed_hash: Buffer;
  user_id: string;
}

export interface PasswordResetTable {
  created_at: Date;
  created_by: string;
  expires_at: Date;
  secret_hmac: Buffer;
  user_id: string;
}

export interface PolicyVerdictTable {
  commit_hash: string | null;
  configuration: JsonOrNull<ApprovalPolicies['policy_verdict.configuration']>;
  content_hash: string | null;
  created_at: Date;
  decision: ApprovalPolicies['policy_verdict.decision'];
  deployment_id: string;
  error: string | null;
  messages: Json<ApprovalPolicies['policy_verdict.messages']>;
  milliseconds: number;
  path: string;
  policy_id: string;
  policy_name: string;
  repository: string;
  revision: string;
  round: number;
}

export interface ProjectTable {
  created_at: Generated<Date>;
  created_by: string;
  description: Generated<string>;
  hierarchy: string;
  id: string;
  is_archived: Generated<boolean>;
  is_testing: Generated<boolean>;
  name: string;
  organization_id: string;
  parent_project_id: string | null;
  tags: Generated<string[]>;
  updated_at: Generated<Date>;
}

export interface ProjectAgentTable {
  agent_key: string | null;
  organization_id: string;
  project_id: string;
}

export interface ProjectPolicyTable {
  auto_drift_remediation: ProjectPolicies['project_policy.auto_drift_remediation'];
  continuous_deployment_default: boolean;
  default_ttl: string | null;
  disable_destroy_environments: boolean;
  drift_detection_cron: string;
  drift_detection_enabled: boolean;
  force_checkout_on_ttl_destroy: boolean;
  force_remote_backend: boolean;
  include_cost_estimation: boolean;
  max_ttl: string | null;
  number_of_environments: number | null;
  number_of_environments_total: number | null;
  outputs_as_inputs_enabled: boolean;
  project_id: string;
  requires_approval_default: boolean;
  run_pull_request_plan_default: boolean;
  self_approval_forbidden: boolean | null;
  self_approval_set_by: string | null;
  skip_apply_when_plan_is_empty: boolean;
  skip_redundant_deployments: boolean;
  updated_at: Date;
  updated_by: string;
  vcs_pr_comments_enabled_default: boolean;
}

export interface RegistryModuleTable {
  created_at: Date;
  created_by: string;
  id: string;
  is_deleted: Generated<boolean>;
  name: string;
  organization_id: string;
  provider: string;
  settings: Json<Registry['registry_module.settings']>;
  updated_at: Date;
}

export interface RegistryProviderTable {
  created_at: Date;
  created_by: string;
  description: string | null;
  id: string;
  organization_id: string;
  type: string;
  updated_at: Date;
}

export interface ReviewTable {
  action: Deployments['review.action'];
  comment: string | null;
  created_at: Generated<Date>;
  deployment_id: string;
  number: GeneratedAlways<number>;
  plan_hash: string | null;
  user_id: string;
}

export interface RoleTable {
  created_at: Generated<Date>;
  created_by: string;
  id: string;
  is_default: Generated<boolean>;
  name: string;
  organization_id: string;
  permissions: Roles['role.permissions'];
  updated_at: Generated<Date>;
}

export interface RoleAssignmentTable {
  created_at: Generated<Date>;
  created_by: string;
  environment_id: string | null;
  id: string;
  organization_id: string;
  project_id: string | null;
  role: string;
  role_id: string | null;
  source: string | null;
  team_id: string | null;
  updated_at: Generated<Date>;
  user_id: string | null;
}

export interface ScheduleTable {
  action: Schedules['schedule.action'];
  auto_drift_remediation: Schedules['schedule.auto_drift_remediation'] | null;
  created_at: Generated<Date>;
  created_by: string;
  cron: string;
  environment_id: string;
  id: string;
  is_enabled: boolean;
  next_run_at: Date | null;
  set_by: string | null;
  time_zone: Generated<string>;
  updated_at: Generated<Date>;
}

export interface ScimGroupTable {
  external_id: string | null;
  team_id: string;
}

export interface ScimTokenTable {
  created_at: Date;
  created_by: string;
  id: string;
  last_used_at: Date | null;
  organization_id: string;
  secret_hmac: Buffer;
}

export interface ScimUserTable {
  attributes: Json<Scim['scim_user.attributes']>;
  external_id: string | null;
  has_created_person: boolean;
  organization_id: string;
  updated_at: Date;
  user_id: string;
}

export interface ServerStampTable {
  stamped_at: Date;
}

export interface SessionTable {
  address: string;
  created_at: Date;
  expires_at: Date;
  id: string;
  kind: SignIn['session.kind'];
  last_used_at: Date;
  secret_hmac: Buffer;
  user_agent: string;
  user_id: string;
  way: SignIn['session.way'];
}

export interface SignInAddressTable {
  address: string;
  last_at: Date;
  user_id: string;
}

export interface SignInAttemptTable {
  failures: number;
  key: Buffer;
  last_failed_at: Date;
  wait_until: Date;
}

export interface SignInLinkTable {
  created_at: Date;
  created_by: string;
  expires_at: Date;
  secret_hmac: Buffer;
  user_id: string;
}

export interface SourceArchiveTable {
  blob: JsonOrNull<Sources['source_archive.blob']>;
  bytes: number;
  created_at: Generated<Date>;
  created_by: string;
  environment_id: string;
  expires_at: Date;
  id: string;
  path: string;
  sha256: string;
}

export interface SshKeyTable {
  created_at: Generated<Date>;
  created_by: string;
  id: string;
  name: string;
  organization_id: string;
  project_ids: Generated<string[]>;
  sealed_value: Buffer;
  updated_at: Generated<Date>;
}

export interface StateAccessTable {
  allowed_project_ids: Generated<string[]>;
  environment_id: string;
  id: string;
  is_open_to_organization: boolean;
  updated_at: Date;
  updated_by: string;
}

export interface StateLockTable {
  environment_id: string;
  held_by: string;
  held_since: Date;
  info: Json<State['state_lock.info']>;
  lock_id: string;
}

export interface StateVersionTable {
  attempt: number | null;
  blob: Json<State['state_version.blob']>;
  bytes: number;
  comment: string | null;
  created_at: Generated<Date>;
  created_by: string | null;
  deployment_id: string | null;
  environment_id: string;
  follows_id: string | null;
  id: string;
  is_withheld: Generated<boolean>;
  job_id: string | null;
  lineage: string;
  lock_id: string | null;
  made_from_id: string | null;
  number: GeneratedAlways<number>;
  origin: Generated<State['state_version.origin']>;
  resource_count: number | null;
  serial: number;
  sha256: string;
  standing: State['state_version.standing'];
  terraform_version: string | null;
  updated_at: Generated<Date>;
}

export interface TeamTable {
  created_at: Generated<Date>;
  created_by: string;
  description: Generated<string>;
  id: string;
  is_default: Generated<boolean>;
  name: string;
  organization_id: string;
  updated_at: Generated<Date>;
}

export interface TeamMemberTable {
  source: string | null;
  team_id: string;
  user_id: string;
}

export interface TemplateTable {
  author_id: string;
  created_at: Generated<Date>;
  id: string;
  is_deleted: Generated<boolean>;
  is_single_use: Generated<boolean>;
  name: string;
  organization_id: string;
  project_id: string | null;
  project_ids: Generated<string[]>;
  repository: string;
  sealed_token: Buffer | null;
  settings: JsonWithDefault<Templates['template.settings']>;
  type: Templates['template.type'];
  updated_at: Generated<Date>;
}

export interface VariableTable {
  created_at: Generated<Date>;
  description: string | null;
  id: string;
  is_output: boolean | null;
  is_readonly: Generated<boolean>;
  is_required: Generated<boolean>;
  is_sensitive: Generated<boolean>;
  name: string;
  organization_id: string;
  project_id: string | null;
  regex: string | null;
  schema: JsonOrNull<Variables['variable.schema']>;
  scope: Variables['variable.scope'];
  scope_id: string;
  sealed_value: Buffer | null;
  type: Variables['variable.type'];
  updated_at: Generated<Date>;
  user_id: string;
}

export interface VcsConnectionTable {
  access_scope: string;
  connection_type: string;
  created_at: Generated<Date>;
  created_by: string;
  id: string;
  name: string;
  organization_id: string;
  token_id: string | null;
  type: VcsConnections['vcs_connection.type'];
  updated_at: Generated<Date>;
  url: string;
  vcs_agent_key: string;
}

export interface Schema {
  agent: AgentTable;
  agent_process: AgentProcessTable;
  agent_secret: AgentSecretTable;
  api_key: ApiKeyTable;
  app_user: AppUserTable;
  attempt: AttemptTable;
  attempt_blob: AttemptBlobTable;
  audit_event: AuditEventTable;
  audit_head: AuditHeadTable;
  audit_link: AuditLinkTable;
  budget: BudgetTable;
  bulk_operation: BulkOperationTable;
  bulk_operation_item: BulkOperationItemTable;
  cli_code: CliCodeTable;
  configuration_set: ConfigurationSetTable;
  configuration_set_assignment: ConfigurationSetAssignmentTable;
  cost_credential_assignment: CostCredentialAssignmentTable;
  credential: CredentialTable;
  credential_assignment: CredentialAssignmentTable;
  default_agent: DefaultAgentTable;
  deployment: DeploymentTable;
  deployment_event: DeploymentEventTable;
  deployment_level: DeploymentLevelTable;
  deployment_step: DeploymentStepTable;
  discovery: DiscoveryTable;
  discovery_folder: DiscoveryFolderTable;
  discovery_scan: DiscoveryScanTable;
  downstream: DownstreamTable;
  effect: EffectTable;
  environment: EnvironmentTable;
  environment_count: EnvironmentCountTable;
  environment_secret: EnvironmentSecretTable;
  flow_assignment: FlowAssignmentTable;
  git_token: GitTokenTable;
  gpg_key: GpgKeyTable;
  idempotency_key: IdempotencyKeyTable;
  installation: InstallationTable;
  invitation: InvitationTable;
  job: JobTable;
  log_chunk: LogChunkTable;
  notification_assignment: NotificationAssignmentTable;
  notification_attempt: NotificationAttemptTable;
  notification_delivery: NotificationDeliveryTable;
  notification_endpoint: NotificationEndpointTable;
  oidc_identity: OidcIdentityTable;
  oidc_key: OidcKeyTable;
  oidc_request: OidcRequestTable;
  organization: OrganizationTable;
  organization_event: OrganizationEventTable;
  organization_member: OrganizationMemberTable;
  password: PasswordTable;
  password_reset: PasswordResetTable;
  policy_verdict: PolicyVerdictTable;
  project: ProjectTable;
  project_agent: ProjectAgentTable;
  project_policy: ProjectPolicyTable;
  registry_module: RegistryModuleTable;
  registry_provider: RegistryProviderTable;
  review: ReviewTable;
  role: RoleTable;
  role_assignment: RoleAssignmentTable;
  schedule: ScheduleTable;
  scim_group: ScimGroupTable;
  scim_token: ScimTokenTable;
  scim_user: ScimUserTable;
  server_stamp: ServerStampTable;
  session: SessionTable;
  sign_in_address: SignInAddressTable;
  sign_in_attempt: SignInAttemptTable;
  sign_in_link: SignInLinkTable;
  source_archive: SourceArchiveTable;
  ssh_key: SshKeyTable;
  state_access: StateAccessTable;
  state_lock: StateLockTable;
  state_version: StateVersionTable;
  team: TeamTable;
  team_member: TeamMemberTable;
  template: TemplateTable;
  variable: VariableTable;
  vcs_connection: VcsConnectionTable;
}
