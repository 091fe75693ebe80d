/**
 * The tables as types; `migrations/` is what makes them, and a test compares the two. Reading a jsonb column
 * gives its value, writing takes JSON text.
 */
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { ApprovedParts, Outcome, Plan, PlanSummary, ResourceRow } from '#protocol/messages.ts';
import type {
  DeploymentError,
  GitMetadata,
  GitUserData,
  StoredOutputs,
  StoredVariable,
  TemplateSettings,
  Ttl,
  VariableSchema,
} from './stored.ts';
import type { BlobRef } from '../blobs/blob-store.ts';

type Json<T> = ColumnType<T, string, string>;
type JsonOrNull<T> = ColumnType<T | null, string | null | undefined, string | null>;
type JsonWithDefault<T> = ColumnType<T, string | undefined, string>;

export interface InstallationTable {
  id: string;
  only: Generated<boolean>;
  sealing_check: Buffer;
  created_at: Generated<Date>;
}

export interface ServerStampTable {
  stamped_at: Date;
}

export interface OrganizationTable {
  id: string;
  name: string;
  description: string | null;
  photo_url: string | null;
  max_ttl: string | null;
  default_ttl: string | null;
  do_not_report_skipped_status_checks: Generated<boolean>;
  do_not_consider_merge_commits_for_pr_plans: Generated<boolean>;
  enable_oidc: Generated<boolean>;
  enforce_pr_commenter_permissions: Generated<boolean>;
  allow_mergeable_bypass_for_pr_apply: Generated<boolean>;
  require_approval_for_pr_applies: Generated<boolean>;
  disable_pr_comments: Generated<boolean>;
  allow_service_secrets: Generated<boolean>;
  project_custom_flows_policy: Generated<string>;
  created_by: string;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface AppUserTable {
  id: string;
  email: string;
  name: string;
  given_name: string | null;
  family_name: string | null;
  picture: string | null;
  is_api_key: Generated<boolean>;
  api_key_type: string | null;
  created_by: string | null;
  last_login: Date | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface OrganizationMemberTable {
  organization_id: string;
  user_id: string;
  role: string;
}

export interface ApiKeyTable {
  id: string;
  name: string;
  user_id: string;
  secret_hmac: Buffer;
  is_bootstrap: Generated<boolean>;
  last_used_at: Date | null;
  created_at: Generated<Date>;
}

export interface ProjectTable {
  id: string;
  organization_id: string;
  parent_project_id: string | null;
  name: string;
  description: Generated<string>;
  tags: Generated<string[]>;
  hierarchy: string;
  is_archived: Generated<boolean>;
  is_testing: Generated<boolean>;
  created_by: string;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface TemplateTable {
  id: string;
  organization_id: string;
  project_id: string | null;
  project_ids: Generated<string[]>;
  name: string;
  type: string;
  repository: string;
  is_single_use: Generated<boolean>;
  is_deleted: Generated<boolean>;
  settings: JsonWithDefault<TemplateSettings>;
  sealed_token: Buffer | null;
  author_id: string;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface EnvironmentTable {
  id: string;
  organization_id: string;
  project_id: string;
  template_id: string;
  user_id: string;
  name: string;
  workspace_name: string;
  status: string;
  resting_status: string;
  latest_deployment_id: string | null;
  requires_approval: boolean;
  is_archived: Generated<boolean>;
  is_locked: Generated<boolean>;
  lock_reason: string | null;
  locked_by: string | null;
  locked_at: Date | null;
  is_remote_backend: Generated<boolean>;
  is_remote_apply_enabled: Generated<boolean>;
  continuous_deployment: Generated<boolean>;
  pull_request_plan_deployments: Generated<boolean>;
  auto_deploy_on_path_changes_only: Generated<boolean>;
  auto_deploy_by_custom_glob: string | null;
  vcs_commands_alias: string | null;
  vcs_pr_comments_enabled: boolean | null;
  terragrunt_working_directory: string | null;
  k8s_namespace: string | null;
  description: string | null;
  ttl: JsonOrNull<Ttl>;
  lifespan_end_at: Date | null;
  drift_status: Generated<string>;
  configuration_set_ids: Generated<string[]>;
  workflow_environment_id: string | null;
  current_state_version_id: string | null;
  tags: Generated<string[]>;
  marked_for_auto_destroy: Generated<number>;
  next_ttl_at: Date | null;
  search_text: GeneratedAlways<string>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface ScheduleTable {
  environment_id: string;
  action: string;
  id: string;
  cron: string;
  is_enabled: boolean;
  auto_drift_remediation: string | null;
  next_run_at: Date | null;
  created_by: string;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface VariableTable {
  id: string;
  organization_id: string;
  scope: string;
  scope_id: string;
  name: string;
  type: number;
  sealed_value: Buffer | null;
  is_sensitive: Generated<boolean>;
  is_readonly: Generated<boolean>;
  is_required: Generated<boolean>;
  is_output: boolean | null;
  regex: string | null;
  schema: JsonOrNull<VariableSchema>;
  description: string | null;
  project_id: string | null;
  user_id: string;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface DeploymentTable {
  id: string;
  number: GeneratedAlways<number>;
  environment_id: string;
  organization_id: string;
  project_id: string;
  type: string;
  status: string;
  started_by: string;
  trigger: string;
  is_scheduled_run: Generated<boolean>;
  queued_at: Generated<Date>;
  started_at: Date | null;
  finished_at: Date | null;
  updated_at: Generated<Date>;
  comment: string | null;
  requires_approval: boolean;
  skip_state_refresh: Generated<boolean>;
  targets: Generated<string[]>;
  git_user_data: JsonOrNull<GitUserData>;
  workflow_deployment_id: string | null;
  workflow_deployment_options: JsonOrNull<unknown>;
  custom_environment_variables: JsonWithDefault<Record<string, string>>;
  facts: JsonWithDefault<Record<string, string>>;
  blueprint_id: string;
  blueprint_name: string;
  blueprint_repository: string;
  blueprint_revision: string;
  blueprint_path: string;
  blueprint_type: string;
  sealed_inputs: Buffer | null;
  variables: JsonWithDefault<StoredVariable[]>;
  commit_hash: string | null;
  tool_version: string | null;
  work_folder: string | null;
  plan: JsonOrNull<Plan>;
  plan_summary: JsonOrNull<PlanSummary>;
  has_changes: boolean | null;
  has_resource_changes: boolean | null;
  is_skipped_apply: boolean | null;
  drift_detected: boolean | null;
  drift_cause: JsonOrNull<unknown>;
  approved_parts: JsonOrNull<ApprovedParts>;
  plan_hash: string | null;
  planned_on_state_version_id: string | null;
  output: JsonOrNull<StoredOutputs>;
  sealed_output: Buffer | null;
  error: JsonOrNull<DeploymentError>;
  failed_command: string | null;
  resources: JsonOrNull<ResourceRow[]>;
  resource_count: Generated<number>;
  git_metadata: JsonOrNull<GitMetadata>;
  provider_versions: JsonOrNull<Record<string, string>>;
  module_versions: JsonOrNull<Record<string, string>>;
  state_file_hash: string | null;
  state_version_id: string | null;
  unrecorded_resources: JsonOrNull<NonNullable<Outcome['unrecorded']>>;
  aborted_by: string | null;
  abort_requested_at: Date | null;
  abort_reason: string | null;
  source_id: string | null;
  follows_last_deploy: Generated<boolean>;
}

export interface SourceArchiveTable {
  id: string;
  environment_id: string;
  path: string;
  sha256: string;
  bytes: number;
  blob: JsonOrNull<BlobRef>;
  created_by: string;
  created_at: Generated<Date>;
  expires_at: Date;
}

export interface ReviewTable {
  deployment_id: string;
  user_id: string;
  action: string;
  plan_hash: string | null;
  created_at: Generated<Date>;
  number: GeneratedAlways<number>;
}

export interface DeploymentStepTable {
  id: string;
  deployment_id: string;
  position: number;
  name: string;
  status: Generated<string>;
  started_at: Date | null;
  completed_at: Date | null;
  log_bytes: Generated<number>;
  retry_count: Generated<number>;
}

export interface LogChunkTable {
  step_id: string;
  first_byte: number;
  bytes: Buffer;
  stored_at: Generated<Date>;
}

export interface DeploymentEventTable {
  deployment_id: string;
  number: GeneratedAlways<number>;
  name: string;
  data: Json<unknown>;
}

export interface OrganizationEventTable {
  organization_id: string;
  transaction: GeneratedAlways<string>;
  number: GeneratedAlways<number>;
  project_id: string | null;
  environment_id: string | null;
  deployment_id: string | null;
  name: string;
  data: Json<unknown>;
  at: Generated<Date>;
}

export interface AgentTable {
  agent_key: string;
  id: string;
  organization_id: string;
  name: string;
  description: string | null;
  is_default: Generated<boolean>;
  created_by: string;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface AgentSecretTable {
  id: string;
  agent_key: string;
  description: string | null;
  secret_hmac: Buffer;
  created_by: string;
  created_at: Generated<Date>;
}

export interface AgentProcessTable {
  id: string;
  agent_key: string;
  spool_id: string;
  epoch: Generated<number>;
  boot_id: string;
  hostname: string;
  process_id: number;
  version: string;
  tools: string[];
  work_folder: string;
  slots: number;
  said_goodbye: Generated<boolean>;
  contact_at: Generated<Date>;
  registered_at: Generated<Date>;
  protocol_minor: Generated<number>;
}

export interface JobTable {
  id: string;
  deployment_id: string;
  phase: string;
  status: string;
  tool: string;
  work_folder: string | null;
  attempts: Generated<number>;
  created_at: Generated<Date>;
  protocol_minor: Generated<number>;
}

export interface AttemptTable {
  job_id: string;
  number: number;
  fence: number;
  agent_process_id: string;
  status: string;
  missed_lists: Generated<number>;
  mark: string | null;
  events_stored: Generated<number>;
  log_bases: JsonWithDefault<Record<string, number>>;
  state_version_id: string | null;
  outcome_sha256: string | null;
  claimed_at: Generated<Date>;
  ended_at: Date | null;
  finish_failures: Generated<number>;
}

export interface AttemptBlobTable {
  job_id: string;
  attempt: number;
  name: string;
  blob: Json<BlobRef>;
}

export interface StateVersionTable {
  id: string;
  environment_id: string;
  deployment_id: string | null;
  job_id: string | null;
  attempt: number | null;
  number: GeneratedAlways<number>;
  serial: number;
  lineage: string;
  sha256: string;
  bytes: number;
  follows_id: string | null;
  standing: string;
  blob: Json<BlobRef>;
  resource_count: number | null;
  origin: Generated<string>;
  created_by: string | null;
  comment: string | null;
  terraform_version: string | null;
  made_from_id: string | null;
  lock_id: string | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface StateLockTable {
  environment_id: string;
  lock_id: string;
  info: Json<Record<string, unknown>>;
  held_by: string;
  held_since: Date;
}

export interface StateAccessTable {
  environment_id: string;
  id: string;
  is_open_to_organization: boolean;
  allowed_project_ids: Generated<string[]>;
  updated_by: string;
  updated_at: Date;
}

export interface AuditEventTable {
  number: GeneratedAlways<number>;
  at: Generated<Date>;
  organization_id: string | null;
  actor_id: string;
  action: string;
  entity: string;
  entity_id: string;
  request_id: string | null;
  details: JsonWithDefault<Record<string, unknown>>;
}

export interface IdempotencyKeyTable {
  actor_id: string;
  key: string;
  request_sha256: string;
  sealed_reply: Buffer | null;
  created_at: Generated<Date>;
}

export interface GitTokenTable {
  id: string;
  organization_id: string;
  name: string;
  type: Generated<'GIT' | 'REGISTRY'>;
  hosts: Generated<string[]>;
  sealed_value: Buffer;
  created_by: string;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface SshKeyTable {
  id: string;
  organization_id: string;
  name: string;
  sealed_value: Buffer;
  created_by: string;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface Schema {
  git_token: GitTokenTable;
  ssh_key: SshKeyTable;
  installation: InstallationTable;
  server_stamp: ServerStampTable;
  organization: OrganizationTable;
  app_user: AppUserTable;
  organization_member: OrganizationMemberTable;
  api_key: ApiKeyTable;
  project: ProjectTable;
  template: TemplateTable;
  environment: EnvironmentTable;
  schedule: ScheduleTable;
  organization_event: OrganizationEventTable;
  variable: VariableTable;
  deployment: DeploymentTable;
  source_archive: SourceArchiveTable;
  review: ReviewTable;
  deployment_step: DeploymentStepTable;
  log_chunk: LogChunkTable;
  deployment_event: DeploymentEventTable;
  agent: AgentTable;
  agent_secret: AgentSecretTable;
  agent_process: AgentProcessTable;
  job: JobTable;
  attempt: AttemptTable;
  attempt_blob: AttemptBlobTable;
  state_version: StateVersionTable;
  state_lock: StateLockTable;
  state_access: StateAccessTable;
  audit_event: AuditEventTable;
  idempotency_key: IdempotencyKeyTable;
}
