-- The installation itself: one row. `sealing_check` is a sealed constant: a key that cannot open it is the wrong key.
create table installation (
  id uuid primary key,
  "only" boolean not null default true unique check ("only"),
  sealing_check bytea not null,
  created_at timestamptz not null default now()
);

-- Servers stamp the database while it can be written: silence of an agent counts only while heartbeats could be stored.
create table server_stamp (
  stamped_at timestamptz primary key
);

create table organization (
  id uuid primary key,
  name text not null,
  description text,
  photo_url text,
  max_ttl text,
  default_ttl text,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- People and keys: a key that is not tied to a person acts as a user of its own, whose id is the key's id.
create table app_user (
  id text primary key,
  email text not null,
  name text not null,
  given_name text,
  family_name text,
  picture text,
  is_api_key boolean not null default false,
  api_key_type text,
  created_by text,
  last_login timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table organization_member (
  organization_id uuid not null references organization,
  user_id text not null references app_user,
  role text not null,
  primary key (organization_id, user_id)
);
create index organization_member_by_user on organization_member (user_id);

create table api_key (
  id text primary key,
  name text not null,
  user_id text not null references app_user,
  secret_hmac bytea not null,
  is_bootstrap boolean not null default false,
  last_used_at timestamptz,
  created_at timestamptz not null default now()
);

create table project (
  id uuid primary key,
  organization_id uuid not null references organization,
  parent_project_id uuid references project,
  name text not null,
  description text not null default '',
  tags text[] not null default '{}',
  hierarchy text not null,
  is_archived boolean not null default false,
  created_by text not null references app_user,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index project_name_among_siblings on project (organization_id, coalesce(parent_project_id, '00000000-0000-0000-0000-000000000000'), name) where not is_archived;

create table template (
  id uuid primary key,
  organization_id uuid not null references organization,
  project_id text,
  project_ids text[] not null default '{}',
  name text not null,
  type text not null,
  repository text not null,
  is_single_use boolean not null default false,
  is_deleted boolean not null default false,
  -- Every other field of the source, tool and retry settings, as the contract names them.
  settings jsonb not null default '{}',
  -- The repository's password, sealed.
  sealed_token bytea,
  author_id text not null references app_user,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table environment (
  id uuid primary key,
  organization_id uuid not null references organization,
  project_id uuid not null references project,
  template_id uuid not null references template,
  user_id text not null references app_user,
  name text not null,
  workspace_name text not null,
  -- Deployment status of the newest deployment that speaks for the environment, and what stands when it is cancelled.
  status text not null,
  resting_status text not null,
  latest_deployment_id uuid,
  requires_approval boolean not null,
  is_archived boolean not null default false,
  is_locked boolean not null default false,
  lock_reason text,
  locked_by text references app_user,
  locked_at timestamptz,
  is_remote_backend boolean not null default false,
  is_remote_apply_enabled boolean not null default false,
  continuous_deployment boolean not null default false,
  pull_request_plan_deployments boolean not null default false,
  auto_deploy_on_path_changes_only boolean not null default true,
  auto_deploy_by_custom_glob text,
  vcs_commands_alias text,
  vcs_pr_comments_enabled boolean,
  terragrunt_working_directory text,
  k8s_namespace text,
  description text,
  ttl jsonb,
  lifespan_end_at timestamptz,
  drift_detection jsonb,
  drift_status text not null default 'NEVER_RUN',
  configuration_set_ids text[] not null default '{}',
  workflow_environment_id uuid references environment,
  current_state_version_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index environment_by_organization on environment (organization_id, created_at desc, id desc);
create index environment_by_project on environment (project_id, created_at desc, id desc);
create index environment_by_name on environment (organization_id, name);
create index environment_by_workspace on environment (organization_id, workspace_name);

-- Variables of every scope; the value always sealed, so that a change of isSensitive never leaves a copy in clear.
create table variable (
  id uuid primary key,
  organization_id uuid not null references organization,
  scope text not null,
  scope_id text not null,
  name text not null,
  type smallint not null check (type in (0, 1)),
  sealed_value bytea,
  is_sensitive boolean not null default false,
  is_readonly boolean not null default false,
  is_required boolean not null default false,
  is_output boolean,
  regex text,
  schema jsonb,
  description text,
  project_id text,
  user_id text not null references app_user,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (scope, scope_id, type, name)
);

create table deployment (
  id uuid primary key,
  -- FIFO within an environment and the order of lists: queued_at can tie.
  number bigint generated always as identity unique,
  environment_id uuid not null references environment,
  organization_id uuid not null references organization,
  project_id uuid not null references project,
  type text not null,
  status text not null,
  started_by text not null references app_user,
  trigger text not null,
  is_scheduled_run boolean not null default false,
  queued_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  updated_at timestamptz not null default now(),
  comment text,
  requires_approval boolean not null,
  skip_state_refresh boolean not null default false,
  targets text[] not null default '{}',
  git_user_data jsonb,
  workflow_deployment_id text,
  workflow_deployment_options jsonb,
  custom_environment_variables jsonb not null default '{}',
  -- What the deployment runs, as it stood when it was made.
  blueprint_id uuid not null references template,
  blueprint_name text not null,
  blueprint_repository text not null,
  blueprint_revision text not null,
  blueprint_path text not null,
  blueprint_type text not null,
  -- Resolved once: sealed values of all variables, and the masked rows that readers get.
  sealed_inputs bytea,
  variables jsonb not null default '[]',
  -- What it found and did.
  commit_hash text,
  tool_version text,
  work_folder text,
  plan jsonb,
  plan_summary jsonb,
  has_changes boolean,
  has_resource_changes boolean,
  is_skipped_apply boolean,
  drift_detected boolean,
  drift_cause jsonb,
  approved_parts jsonb,
  plan_hash text,
  planned_on_state_version_id uuid,
  output jsonb,
  sealed_output bytea,
  error jsonb,
  failed_command text,
  resources jsonb,
  resource_count integer not null default 0,
  git_metadata jsonb,
  provider_versions jsonb,
  module_versions jsonb,
  state_file_hash text,
  state_version_id uuid,
  unrecorded_resources jsonb,
  aborted_by text references app_user,
  abort_requested_at timestamptz,
  abort_reason text
);
create index deployment_by_environment on deployment (environment_id, number desc);
-- One of these types is active per environment; somebody who is waited for counts.
create unique index deployment_one_active on deployment (environment_id)
  where status in ('IN_PROGRESS', 'WAITING_FOR_USER', 'ABORTING') and type in ('deploy', 'destroy', 'task', 'driftDetection', 'dryRun');
create index deployment_open on deployment (environment_id, number) where status in ('QUEUED', 'IN_PROGRESS', 'WAITING_FOR_USER', 'ABORTING');
alter table environment add constraint environment_latest_deployment foreign key (latest_deployment_id) references deployment deferrable initially deferred;

create table review (
  deployment_id uuid not null references deployment,
  user_id text not null references app_user,
  action text not null check (action in ('approved', 'cancelled')),
  plan_hash text,
  created_at timestamptz not null default now(),
  number bigint generated always as identity primary key
);
create index review_by_deployment on review (deployment_id, number);

create table deployment_step (
  id uuid primary key,
  deployment_id uuid not null references deployment,
  position integer not null,
  name text not null,
  status text not null default 'NOT_STARTED',
  started_at timestamptz,
  completed_at timestamptz,
  -- Bytes of the stored log; chunks are addressed by their first byte.
  log_bytes bigint not null default 0,
  unique (deployment_id, name)
);

create table log_chunk (
  step_id uuid not null references deployment_step,
  first_byte bigint not null,
  bytes bytea not null,
  stored_at timestamptz not null default clock_timestamp(),
  primary key (step_id, first_byte)
);

-- What an event stream of a deployment replays: everything except log bytes.
create table deployment_event (
  deployment_id uuid not null references deployment,
  number bigint generated always as identity,
  name text not null,
  data jsonb not null,
  primary key (deployment_id, number)
);

create table agent (
  agent_key text primary key,
  id uuid not null unique,
  organization_id uuid not null references organization,
  name text not null,
  description text,
  is_default boolean not null default false,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table agent_secret (
  id uuid primary key,
  agent_key text not null references agent,
  description text,
  secret_hmac bytea not null unique,
  created_by text not null,
  created_at timestamptz not null default now()
);

-- A spool folder with the agent that holds it.
create table agent_process (
  id uuid primary key,
  agent_key text not null references agent,
  spool_id text not null unique,
  epoch bigint not null default 1,
  boot_id text not null,
  hostname text not null,
  process_id integer not null,
  version text not null,
  tools text[] not null,
  work_folder text not null,
  slots integer not null,
  said_goodbye boolean not null default false,
  contact_at timestamptz not null default now(),
  registered_at timestamptz not null default now()
);

create sequence fence;

create table job (
  id uuid primary key,
  deployment_id uuid not null references deployment,
  phase text not null check (phase in ('plan', 'apply')),
  status text not null check (status in ('queued', 'claimed', 'done')),
  -- Only an agent with this folder can take it (an apply), and only this tool's.
  tool text not null,
  work_folder text,
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  unique (deployment_id, phase)
);
create index job_queued on job (created_at, id) where status = 'queued';

create table attempt (
  job_id uuid not null references job,
  number integer not null,
  fence bigint not null unique,
  agent_process_id uuid not null references agent_process,
  status text not null check (status in ('claimed', 'confirmed', 'ended')),
  missed_lists integer not null default 0,
  mark text,
  -- The next expected line of the attempt's events, and where each step's log began with this attempt.
  events_stored integer not null default 0,
  log_bases jsonb not null default '{}',
  state_version_id uuid,
  outcome_sha256 text,
  claimed_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (job_id, number)
);
create index attempt_open on attempt (agent_process_id) where status <> 'ended';

create table attempt_blob (
  job_id uuid not null,
  attempt integer not null,
  name text not null,
  blob jsonb not null,
  primary key (job_id, attempt, name),
  foreign key (job_id, attempt) references attempt (job_id, number)
);

create table state_version (
  id uuid primary key,
  environment_id uuid not null references environment,
  deployment_id uuid references deployment,
  job_id uuid,
  attempt integer,
  number bigint generated always as identity,
  serial bigint not null,
  lineage text not null,
  sha256 text not null,
  bytes bigint not null,
  follows_id uuid references state_version,
  standing text not null check (standing in ('current', 'superseded', 'rescued')),
  blob jsonb not null,
  resource_count integer,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (job_id, attempt)
);
create index state_version_by_environment on state_version (environment_id, number desc);
create unique index state_version_one_current on state_version (environment_id) where standing = 'current';

create table audit_event (
  number bigint generated always as identity primary key,
  at timestamptz not null default now(),
  organization_id uuid,
  actor_id text not null,
  action text not null,
  entity text not null,
  entity_id text not null,
  request_id text,
  details jsonb not null default '{}'
);
create index audit_event_by_entity on audit_event (entity, entity_id, number);

create table idempotency_key (
  actor_id text not null,
  key text not null,
  request_sha256 text not null,
  reply jsonb,
  created_at timestamptz not null default now(),
  primary key (actor_id, key)
);

-- Tokens for repositories over https; the value never leaves again.
create table git_token (
  id uuid primary key,
  organization_id uuid not null references organization,
  name text not null,
  sealed_value bytea not null,
  created_by text not null references app_user,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (organization_id, name)
);
