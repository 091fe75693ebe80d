-- The schema that the first release begins with; later changes are migrations with higher numbers.

-- # Installation

-- One row. `sealing_check` is a sealed constant: a key that cannot open it is the wrong key.
create table installation (
  id uuid primary key,
  "only" boolean not null default true unique check ("only"),
  sealing_check bytea not null,
  -- The id in the file that marks the folder of the blobs: every server has to have the same folder.
  blob_folder_id uuid,
  created_at timestamptz not null default now()
);

-- Servers stamp the database while it can be written: silence of an agent counts only while heartbeats could be stored.
create table server_stamp (
  stamped_at timestamptz primary key
);

-- # Organizations, people and projects

create table organization (
  id uuid primary key,
  name text not null,
  description text,
  photo_url text,
  max_ttl text,
  default_ttl text,
  do_not_report_skipped_status_checks boolean not null default false,
  do_not_consider_merge_commits_for_pr_plans boolean not null default false,
  enable_oidc boolean not null default false,
  enforce_pr_commenter_permissions boolean not null default false,
  allow_mergeable_bypass_for_pr_apply boolean not null default false,
  require_approval_for_pr_applies boolean not null default false,
  disable_pr_comments boolean not null default false,
  allow_service_secrets boolean not null default false,
  project_custom_flows_policy text not null default 'OVERRIDE_TEMPLATES',
  -- Grows with every change of rights in the organization: servers cache the rights of a caller while it is the same.
  access_version bigint not null default 0,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- People and keys: a key that does not belong to a person acts as a user of its own, whose id is the key's id.
create table app_user (
  id text primary key,
  email text not null,
  -- Verified by an identity provider.
  is_email_verified boolean not null default false,
  name text not null,
  given_name text,
  family_name text,
  picture text,
  is_api_key boolean not null default false,
  api_key_type text,
  -- A blocked user cannot sign in, and none of its keys is accepted.
  is_blocked boolean not null default false,
  created_by text,
  last_login timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The account is deleted: only an anonymous name remains.
  deleted_at timestamptz
);
create unique index person_by_email on app_user (lower(email)) where not is_api_key and email <> '';

-- A membership is the assignment of a role in the organization, and has an id like other assignments.
create table organization_member (
  organization_id uuid not null references organization,
  user_id text not null references app_user,
  id uuid not null default gen_random_uuid(),
  role text not null,
  -- An inactive member keeps its role and teams, which have no effect.
  status text not null default 'Active' check (status in ('Active', 'Invited', 'Inactive')),
  -- What keeps the membership up to date (a claim at sign-in, SCIM); null: people do.
  source text,
  created_at timestamptz not null default now(),
  primary key (organization_id, user_id)
);
create index organization_member_by_user on organization_member (user_id);

create table project (
  id uuid primary key,
  organization_id uuid not null references organization,
  parent_project_id uuid references project,
  name text not null,
  description text not null default '',
  tags text[] not null default '{}',
  hierarchy text not null,
  is_archived boolean not null default false,
  -- The hidden project for tests of modules: one per organization, without siblings.
  is_testing boolean not null default false,
  created_by text not null references app_user,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index project_name_among_siblings on project (organization_id, coalesce(parent_project_id, '00000000-0000-0000-0000-000000000000'), name)
  where not is_archived and not is_testing;
create unique index project_for_testing on project (organization_id) where is_testing;

-- Limits and defaults of projects that were changed; other projects have the default policy.
create table project_policy (
  project_id uuid primary key references project on delete cascade,
  number_of_environments integer,
  number_of_environments_total integer,
  max_ttl text,
  default_ttl text,
  requires_approval_default boolean not null,
  -- Whether people may not approve plans that they started; null: inherited from the parent project.
  self_approval_forbidden boolean,
  -- Who last set it: permission to approve one's own plans overrides what a project above demands only with the rights of
  -- that user. Null: never set.
  self_approval_set_by text,
  include_cost_estimation boolean not null,
  skip_apply_when_plan_is_empty boolean not null,
  disable_destroy_environments boolean not null,
  force_checkout_on_ttl_destroy boolean not null,
  skip_redundant_deployments boolean not null,
  continuous_deployment_default boolean not null,
  run_pull_request_plan_default boolean not null,
  vcs_pr_comments_enabled_default boolean not null,
  force_remote_backend boolean not null,
  outputs_as_inputs_enabled boolean not null,
  drift_detection_enabled boolean not null,
  drift_detection_cron text not null,
  auto_drift_remediation text not null,
  updated_by text not null references app_user,
  updated_at timestamptz not null
);

-- # Sign-in: passwords, sessions, identities of providers, invitations and pending sign-ins

create table password (
  user_id text primary key references app_user,
  -- argon2id in the PHC format, sealed: neither the database nor the key file alone is enough to guess passwords.
  sealed_hash bytea not null,
  changed_at timestamptz not null default now()
);

-- One-time links with which a person sets a new password; only the newest of a user is valid.
create table password_reset (
  user_id text primary key references app_user,
  secret_hmac bytea not null,
  created_by text not null references app_user,
  created_at timestamptz not null,
  expires_at timestamptz not null
);

-- One-time links that sign a person in; only the newest of a user is valid.
create table sign_in_link (
  user_id text primary key references app_user,
  secret_hmac bytea not null,
  created_by text not null references app_user,
  created_at timestamptz not null,
  expires_at timestamptz not null
);

create table session (
  id uuid primary key,
  user_id text not null references app_user,
  -- A browser sends its session as a cookie, the command line as credentials.
  kind text not null check (kind in ('browser', 'cli')),
  secret_hmac bytea not null,
  -- How the person signed in: 'password', 'oidc' or 'invitation'.
  way text not null,
  address text not null,
  user_agent text not null,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  expires_at timestamptz not null
);
create index session_by_user on session (user_id, created_at desc, id desc);
create index session_by_expiry on session (expires_at);

-- Failed sign-ins of an account, or from an address; the keys are HMACs.
create table sign_in_attempt (
  key bytea primary key,
  failures integer not null,
  last_failed_at timestamptz not null,
  -- Until then, attempts are refused.
  wait_until timestamptz not null
);
create index sign_in_attempt_by_age on sign_in_attempt (last_failed_at);

-- Addresses from which a person signed in: failures elsewhere do not make the person wait there.
create table sign_in_address (
  user_id text not null references app_user,
  address text not null,
  last_at timestamptz not null,
  primary key (user_id, address)
);

create table oidc_identity (
  issuer text not null,
  subject text not null,
  user_id text not null references app_user,
  created_at timestamptz not null default now(),
  last_sign_in_at timestamptz not null default now(),
  primary key (issuer, subject)
);
create index oidc_identity_by_user on oidc_identity (user_id);

-- Sign-ins that wait for the answer of a provider; each is used once.
create table oidc_request (
  state_sha256 bytea primary key,
  sealed_details bytea not null,
  expires_at timestamptz not null
);
create index oidc_request_by_expiry on oidc_request (expires_at);

-- Codes that a browser passes to the command line; each is used once.
create table cli_code (
  code_sha256 bytea primary key,
  user_id text not null references app_user,
  way text not null,
  code_challenge text not null,
  redirect_uri text not null,
  expires_at timestamptz not null
);
create index cli_code_by_expiry on cli_code (expires_at);

create table invitation (
  id uuid primary key,
  organization_id uuid not null references organization,
  user_id text not null references app_user,
  email text not null,
  -- As in the request.
  permissions jsonb not null,
  secret_hmac bytea not null,
  created_by text not null references app_user,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  revoked_at timestamptz
);
create index invitation_by_organization on invitation (organization_id, created_at desc, id desc);
create unique index open_invitation on invitation (organization_id, user_id) where accepted_at is null and revoked_at is null;

-- Keys belong to an organization, as users of their own, or to a person; each has one secret or two.
create table api_key (
  id text primary key,
  -- Null: a personal key of its user, or the first key of the installation.
  organization_id uuid references organization,
  name text not null,
  description text not null default '',
  user_id text not null references app_user,
  -- The member who is responsible for the key.
  owner_id text references app_user,
  is_bootstrap boolean not null default false,
  -- In CIDR notation; empty: the key is accepted from everywhere.
  networks text[] not null default '{}',
  secret_id uuid not null default gen_random_uuid(),
  secret_hmac bytea not null,
  secret_created_at timestamptz not null default now(),
  secret_used_at timestamptz,
  second_secret_id uuid,
  second_secret_hmac bytea,
  second_secret_created_at timestamptz,
  second_secret_used_at timestamptz,
  last_used_at timestamptz,
  created_by text,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  check (num_nulls(second_secret_id, second_secret_hmac, second_secret_created_at) in (0, 3))
);
create index api_key_by_organization on api_key (organization_id, created_at desc, id desc) where organization_id is not null;
create index api_key_by_user on api_key (user_id);

-- # Code: templates, tokens and keys for repositories, forges and the registry

create table template (
  id uuid primary key,
  organization_id uuid not null references organization,
  project_id text,
  project_ids text[] not null default '{}',
  name text not null,
  type text not null,
  repository text not null,
  -- Belongs to one environment.
  is_single_use boolean not null default false,
  is_deleted boolean not null default false,
  -- Every other field of the source, tool and retry settings, with the names of the contract.
  settings jsonb not null default '{}',
  -- The repository's password, sealed.
  sealed_token bytea,
  author_id text not null references app_user,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
-- Names are unique among the templates that people create; approval policies and custom flows are templates of their own type.
create unique index template_name on template (organization_id, name)
  where not is_single_use and not is_deleted and type not in ('module', 'approval-policy', 'custom-flow', 'environment-discovery');
create unique index template_name_of_type on template (organization_id, type, name)
  where not is_deleted and type in ('approval-policy', 'custom-flow');
create index template_listed on template (organization_id, created_at desc, id desc) where not is_single_use and not is_deleted;

-- Tokens for repositories over HTTPS; no reply contains the value.
create table git_token (
  id uuid primary key,
  organization_id uuid not null references organization,
  name text not null,
  type text not null default 'GIT' check (type in ('GIT', 'REGISTRY')),
  -- Git hosts besides the repository's, or private registries.
  hosts text[] not null default '{}',
  -- Projects, with everything below them, whose environments may use the token; empty: the whole organization.
  project_ids uuid[] not null default '{}',
  sealed_value bytea not null,
  created_by text not null references app_user,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (organization_id, name)
);

-- Private keys for repositories and modules over SSH; no reply contains the value.
create table ssh_key (
  id uuid primary key,
  organization_id uuid not null references organization,
  name text not null,
  -- As for git_token.
  project_ids uuid[] not null default '{}',
  sealed_value bytea not null,
  created_by text not null references app_user,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (organization_id, name)
);

-- Connections to self-hosted forges, with the token that reads their repositories.
create table vcs_connection (
  id uuid primary key,
  organization_id uuid not null references organization,
  name text not null,
  type text not null,
  url text not null,
  vcs_agent_key text not null,
  access_scope text not null,
  connection_type text not null,
  token_id uuid references git_token,
  created_by text not null references app_user,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (organization_id, name)
);
create index vcs_connection_token on vcs_connection (token_id) where token_id is not null;

create table registry_module (
  id uuid primary key,
  organization_id uuid not null references organization,
  name text not null,
  provider text not null,
  -- Where its code is, and how it is read and tested.
  settings jsonb not null,
  is_deleted boolean not null default false,
  created_by text not null references app_user,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index registry_module_name on registry_module (organization_id, name, provider) where not is_deleted;

create table registry_provider (
  id uuid primary key,
  organization_id uuid not null references organization,
  type text not null,
  description text,
  created_by text not null references app_user,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (organization_id, type)
);

-- Keys that sign providers.
create table gpg_key (
  id uuid primary key,
  organization_id uuid not null references organization,
  name text not null,
  key_id text not null,
  content text not null,
  created_by text not null references app_user,
  created_at timestamptz not null
);
create index gpg_key_organization on gpg_key (organization_id);

-- # Environments

create table environment (
  id uuid primary key,
  organization_id uuid not null references organization,
  project_id uuid not null references project,
  template_id uuid not null references template,
  is_single_use_template boolean not null default true,
  -- Override those of the template for this environment.
  template_revision text,
  template_repository text,
  user_id text not null references app_user,
  name text not null,
  description text,
  tags text[] not null default '{}',
  workspace_name text not null,
  -- The status of the newest deployment that determines that of the environment, and the one that returns when it is cancelled.
  status text not null,
  resting_status text not null,
  latest_deployment_id uuid,
  current_state_version_id uuid,
  drift_status text not null default 'NEVER_RUN',
  requires_approval boolean not null,
  -- Who switched the approvals off: that overrides what the project demands only with the rights of that user. Null: they are on.
  approval_lifted_by text,
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
  ttl jsonb,
  -- Who set the lifetime: the destroy at its end belongs to that person. Null: the default of a policy.
  ttl_set_by text references app_user,
  lifespan_end_at timestamptz,
  -- Notices sent before the automatic destroy, and when the next notice or the destroy is due; null: none.
  marked_for_auto_destroy smallint not null default 0,
  next_ttl_at timestamptz,
  -- A destroy at the end of the lifetime that was refused or failed is retried.
  ttl_attempts integer not null default 0,
  ttl_problem text,
  configuration_set_ids text[] not null default '{}',
  workflow_environment_id uuid references environment,
  -- Whether `downstream` has rows for it: deployments of other environments do not read that table.
  has_downstream boolean not null default false,
  -- The text that a search reads: name, workspace, id and repository in lower case, a line each.
  search_text text not null default '',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index environment_by_organization on environment (organization_id, created_at desc, id desc);
create index environment_by_project on environment (project_id, created_at desc, id desc);
create index environment_by_name on environment (organization_id, name);
create index environment_by_workspace on environment (organization_id, workspace_name);
create index environment_by_template on environment (template_id);
create index environment_by_tag on environment using gin (tags);
-- Timers skip what is locked or archived.
create index environment_ttl_due on environment (next_ttl_at)
  where next_ttl_at is not null and not is_locked and not is_archived;
-- Lists of environments outside of workflows: newest first, by name, and by expiry.
create index environment_listed on environment (organization_id, created_at desc, id desc) include (is_archived) where workflow_environment_id is null;
create index environment_sorted_by_name on environment (organization_id, lower(name), id) where workflow_environment_id is null;
create index environment_sorted_by_end on environment (organization_id, lifespan_end_at, id) where workflow_environment_id is null;

-- An environment is found by the repository that it is deployed from.
create function environment_search_text() returns trigger language plpgsql as $$
begin
  new.search_text := lower(concat_ws(E'\n', new.name, new.workspace_name, new.id::text,
    coalesce(new.template_repository, (select repository from template where id = new.template_id))));
  return new;
end $$;
create trigger environment_search_text before insert or update of name, workspace_name, template_id, template_repository on environment
  for each row execute function environment_search_text();
create function template_search_text() returns trigger language plpgsql as $$
begin
  update environment set template_id = template_id where template_id = new.id;
  return new;
end $$;
create trigger template_search_text after update of repository on template
  for each row when (old.repository is distinct from new.repository) execute function template_search_text();

-- Trigrams make parts of words quick to find. A database whose owner may not install them is searched row by row.
do $$
begin
  create extension if not exists pg_trgm;
exception when insufficient_privilege or undefined_file or feature_not_supported then
  raise notice 'pg_trgm cannot be installed here: searching environments reads them all';
end $$;
do $$
begin
  if exists (select from pg_extension where extname = 'pg_trgm') then
    create index environment_by_part on environment using gin (search_text gin_trgm_ops);
  end if;
end $$;

-- How many environments outside of workflows a project has: lists show their number on every page, and counting 50,000 rows
-- takes longer than reading the page. Written when a transaction commits, in a fixed order, so that transactions wait for each
-- other only while they commit.
create table environment_count (
  organization_id uuid not null references organization,
  project_id uuid not null references project,
  is_archived boolean not null,
  environments integer not null,
  primary key (organization_id, project_id, is_archived)
) with (fillfactor = 50);

create function count_environments() returns trigger language plpgsql as $$
begin
  insert into environment_count as counted (organization_id, project_id, is_archived, environments)
    select organization_id, project_id, is_archived, sum(change) from (
      select old.organization_id, old.project_id, old.is_archived, -1 as change
        where tg_op <> 'INSERT' and old.workflow_environment_id is null
      union all
      select new.organization_id, new.project_id, new.is_archived, 1
        where tg_op <> 'DELETE' and new.workflow_environment_id is null
    ) change group by 1, 2, 3 having sum(change) <> 0 order by 1, 2, 3
  on conflict (organization_id, project_id, is_archived)
    do update set environments = counted.environments + excluded.environments;
  return null;
end $$;
create constraint trigger environment_counted after insert or delete on environment
  deferrable initially deferred for each row execute function count_environments();
create constraint trigger environment_counted_again
  after update of organization_id, project_id, is_archived, workflow_environment_id on environment
  deferrable initially deferred for each row
  when ((old.organization_id, old.project_id, old.is_archived, old.workflow_environment_id)
    is distinct from (new.organization_id, new.project_id, new.is_archived, new.workflow_environment_id))
  execute function count_environments();

-- Secrets that the service creates for an environment, such as the passphrase of its stack; only runs receive them.
create table environment_secret (
  environment_id uuid not null references environment,
  name text not null,
  sealed_value bytea not null,
  created_at timestamptz not null default now(),
  primary key (environment_id, name)
);

-- Cron patterns of an environment.
create table schedule (
  environment_id uuid not null references environment on delete cascade,
  action text not null check (action in ('deploy', 'destroy', 'driftDetection')),
  id uuid not null unique,
  cron text not null,
  time_zone text not null default 'UTC',
  is_enabled boolean not null,
  auto_drift_remediation text,
  -- Null: it never runs (switched off, or a pattern without a next date).
  next_run_at timestamptz,
  created_by text not null references app_user,
  -- Who last set it: deployments that it starts belong to that person. Null: the creator.
  set_by text references app_user,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (environment_id, action)
);
create index schedule_due on schedule (next_run_at) where next_run_at is not null;

-- Environments that are deployed after another one.
create table downstream (
  upstream_id uuid not null references environment on delete cascade,
  downstream_id uuid not null references environment on delete cascade,
  created_by text not null references app_user,
  created_at timestamptz not null,
  -- The result of the last successful deployment upstream.
  last_at timestamptz,
  last_cause_id uuid,
  last_deployment_id uuid,
  last_reason text,
  primary key (upstream_id, downstream_id)
);
create index downstream_by_downstream on downstream (downstream_id);

-- # Inputs: variables, configuration sets and credentials

-- Variables of every scope. The value is always sealed, so that changing isSensitive never leaves a copy in plain text.
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

-- Named groups of variables (rows of `variable` with scope SET), assigned to many places.
create table configuration_set (
  id uuid primary key,
  organization_id uuid not null references organization,
  -- Null: created in the organization, for use everywhere; otherwise for use in this project and those below it.
  project_id uuid references project,
  name text not null,
  description text not null default '',
  created_by text not null references app_user,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- A deleted set is no longer assigned anywhere, but deployments that ran with it still refer to it.
  deleted_at timestamptz
);
create unique index configuration_set_name_in_scope on configuration_set
  (organization_id, coalesce(project_id, '00000000-0000-0000-0000-000000000000'), name) where deleted_at is null;

create table configuration_set_assignment (
  set_id uuid not null references configuration_set,
  scope text not null check (scope in ('organization', 'project', 'template', 'module', 'environment', 'deployment')),
  scope_id uuid not null,
  -- The order of assignment: of two sets with the same variable at one place, the later one wins.
  number bigint generated always as identity,
  assigned_by text not null references app_user,
  assigned_at timestamptz not null,
  primary key (scope, scope_id, set_id)
);
create index configuration_set_assignment_by_set on configuration_set_assignment (set_id);

-- Credentials of clouds; only runs receive the value. Without a project: for the whole organization.
create table credential (
  id uuid primary key,
  organization_id uuid not null references organization,
  project_id uuid references project,
  name text not null,
  type text not null,
  sealed_value bytea not null,
  created_by text not null references app_user,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (organization_id, name)
);

-- Runs in the project and in those below it receive the credential.
create table credential_assignment (
  id uuid primary key,
  credential_id uuid not null references credential,
  project_id uuid not null references project,
  created_by text not null references app_user,
  created_at timestamptz not null,
  unique (project_id, credential_id)
);
create index credential_assignment_by_credential on credential_assignment (credential_id);

-- Keys that sign the tokens of runs. Each is published before it signs, and until its last token has expired.
create table oidc_key (
  id text primary key,
  public_key jsonb not null,
  sealed_private_key bytea not null,
  created_at timestamptz not null,
  signs_from timestamptz not null
);

-- # Deployments

-- Code that a person uploaded for remote plans.
create table source_archive (
  id uuid primary key,
  environment_id uuid not null references environment,
  path text not null,
  sha256 text not null,
  bytes bigint not null,
  -- Null: expired, and its file is deleted.
  blob jsonb,
  created_by text not null references app_user,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index source_archive_expiry on source_archive (expires_at) where blob is not null;

create table deployment (
  id uuid primary key,
  -- FIFO within an environment and the order of lists: queued_at can be equal.
  number bigint generated always as identity unique,
  environment_id uuid not null references environment,
  organization_id uuid not null references organization,
  project_id uuid not null references project,
  type text not null,
  status text not null,
  started_by text not null references app_user,
  -- For whom the service itself started it, such as the person who set its schedule; null: for nobody.
  requested_by text references app_user,
  trigger text not null,
  is_scheduled_run boolean not null default false,
  -- Skipped in favour of a newer one.
  skipped_for uuid,
  -- The deployment that started this one: a remediation of drift, or a deployment downstream.
  caused_by uuid,
  upstream_environment_id uuid,
  queued_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  updated_at timestamptz not null default now(),
  comment text,
  requires_approval boolean not null,
  -- What decided whether the plan waits for a person.
  approval_decided_by text not null check (approval_decided_by in ('planner', 'variable', 'policy', 'project', 'request', 'environment')),
  -- Whether the plan waits according to the settings when the deployment was created, with the projects whose demand nobody
  -- has lifted: each round of approval policies begins with it.
  approval_at_start jsonb not null,
  -- Approval policies are assigned: they check its plan.
  has_policies boolean not null default false,
  -- The policy of the project includes cost estimation: its plan has a step for it.
  estimates_costs boolean not null default false,
  skip_state_refresh boolean not null default false,
  targets text[] not null default '{}',
  git_user_data jsonb,
  workflow_deployment_id text,
  workflow_deployment_options jsonb,
  custom_environment_variables jsonb not null default '{}',
  -- The strategy of a single drift run; null: that of the environment.
  drift_remediation text,
  -- Type and requester of the run at the time of the request; the rest is added later.
  facts jsonb not null default '{}',
  -- What the deployment runs, as it was when the deployment was created.
  template_id uuid not null references template,
  template_name text not null,
  repository text not null,
  revision text not null,
  path text not null,
  tool text not null,
  source_id uuid references source_archive,
  -- Settings of template and environment for its runs at the time of the request, apart from its code.
  run_settings jsonb,
  -- Runs at the commit that was deployed last when its turn comes, not when it was requested.
  follows_last_deploy boolean not null default false,
  -- The commit that a destroy or a task takes over from the last deploy, apart from the requested revision and from the
  -- commit that the run checked out.
  commit_to_run text,
  -- Resolved once: sealed values of all variables, and the masked rows for readers.
  sealed_inputs bytea,
  variables jsonb not null default '[]',
  -- Results.
  commit_hash text,
  tool_version text,
  work_folder text,
  plan jsonb,
  plan_summary jsonb,
  plan_hash text,
  planned_on_state_version_id uuid,
  -- A deployment may plan units once those are applied whose outputs they need: a level of its own, with a plan of its own.
  -- The units of the current plan, and its level; null: the first level.
  planned_units jsonb,
  level jsonb,
  has_changes boolean,
  has_resource_changes boolean,
  is_skipped_apply boolean,
  approved_parts jsonb,
  -- What the plan costs; null: not estimated.
  cost_estimation jsonb,
  drift_detected boolean,
  drift_cause jsonb,
  -- What the service did about the drift that a drift run found.
  remediation jsonb,
  output jsonb,
  sealed_output bytea,
  error jsonb,
  -- Errors, failed checks and warnings that the tool reported.
  diagnostics jsonb,
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
-- Of these types, one is active per environment; a deployment that waits for a person is active.
create unique index deployment_one_active on deployment (environment_id)
  where status in ('IN_PROGRESS', 'WAITING_FOR_USER', 'ABORTING') and type in ('deploy', 'destroy', 'task', 'driftDetection', 'dryRun');
create index deployment_open on deployment (environment_id, number) where status in ('QUEUED', 'IN_PROGRESS', 'WAITING_FOR_USER', 'ABORTING');
create index deployment_finished on deployment (finished_at) where finished_at is not null;
-- Nothing is started twice by the same cause, whatever crashed in between.
create unique index deployment_caused_once on deployment (caused_by, environment_id) where caused_by is not null;
alter table environment add constraint environment_latest_deployment foreign key (latest_deployment_id) references deployment deferrable initially deferred;

-- The plans of earlier levels, which were applied.
create table deployment_level (
  deployment_id uuid not null references deployment on delete cascade,
  number integer not null,
  plan jsonb,
  plan_summary jsonb,
  plan_hash text,
  approved_parts jsonb,
  planned_units jsonb,
  -- The deployment as a whole changed something if one of its levels did.
  has_changes boolean,
  has_resource_changes boolean,
  applied_at timestamptz not null,
  primary key (deployment_id, number)
);

-- An environment that never had resources can be deleted with its deployments. Rows that refer to files (attempt_blob,
-- source_archive, state_version) and locks of states do not cascade: they are deleted first, or forbid the deletion.
create table review (
  number bigint generated always as identity primary key,
  deployment_id uuid not null references deployment on delete cascade,
  user_id text not null references app_user,
  action text not null check (action in ('approved', 'cancelled')),
  plan_hash text,
  -- The reason for the approval or the refusal.
  comment text,
  created_at timestamptz not null default now()
);
create index review_by_deployment on review (deployment_id, number);
-- Nobody approves the same plan twice: a deployment has one for each level.
create unique index review_once_for_plan on review (deployment_id, user_id, coalesce(plan_hash, '')) where action = 'approved';

create table deployment_step (
  id uuid primary key,
  deployment_id uuid not null references deployment on delete cascade,
  position integer not null,
  name text not null,
  status text not null default 'NOT_STARTED',
  retry_count integer not null default 0,
  started_at timestamptz,
  completed_at timestamptz,
  -- Bytes of the stored log; chunks are addressed by their first byte.
  log_bytes bigint not null default 0,
  unique (deployment_id, name)
);

create table log_chunk (
  step_id uuid not null references deployment_step on delete cascade,
  first_byte bigint not null,
  bytes bytea not null,
  stored_at timestamptz not null default clock_timestamp(),
  primary key (step_id, first_byte)
);

-- What an event stream of a deployment replays: everything except log bytes.
create table deployment_event (
  deployment_id uuid not null references deployment on delete cascade,
  number bigint generated always as identity,
  name text not null,
  data jsonb not null,
  primary key (deployment_id, number)
);

-- Approval policies and custom flows are templates; these are the places that they apply to.
create table flow_assignment (
  id uuid primary key,
  template_id uuid not null references template,
  scope text not null check (scope in ('ORGANIZATION', 'PROJECT', 'BLUEPRINT')),
  scope_id uuid not null,
  -- The order of the flows of one place; null: after those that have one.
  position integer,
  created_by text not null references app_user,
  created_at timestamptz not null,
  unique (scope, scope_id, template_id)
);
create index flow_assignment_by_template on flow_assignment (template_id);

-- The result of each approval policy for a plan.
create table policy_verdict (
  deployment_id uuid not null references deployment on delete cascade,
  -- 1 after the plan, then one more after each approval.
  round integer not null check (round > 0),
  policy_id uuid not null references template,
  -- As they were then; later rounds use the same configuration.
  policy_name text not null,
  repository text not null,
  revision text not null,
  path text not null,
  configuration jsonb,
  decision text not null check (decision in ('error', 'deny', 'pending', 'allow', 'none')),
  messages jsonb not null,
  error text,
  commit_hash text,
  content_hash text,
  milliseconds integer not null,
  created_at timestamptz not null,
  primary key (deployment_id, round, policy_id)
);
create index policy_verdict_by_policy on policy_verdict (policy_id, created_at desc);

-- # Agents and their jobs

create table agent (
  agent_key text primary key,
  id uuid not null unique,
  organization_id uuid not null references organization,
  name text not null,
  description text,
  is_default boolean not null default false,
  -- Runs deployments of all organizations: only the operator creates secrets for it.
  is_shared boolean not null default false,
  -- Where clients want the logs of an agent to be; not read yet.
  logs jsonb,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- A deleted agent has no secrets and is not shown; the attempts that it ran refer to its row.
  deleted_at timestamptz
);

create table agent_secret (
  id uuid primary key,
  agent_key text not null references agent,
  description text,
  secret_hmac bytea not null unique,
  created_by text not null,
  created_at timestamptz not null default now(),
  -- Null: it does not end.
  expires_at timestamptz,
  -- When a process last exchanged it for a token.
  last_used_at timestamptz
);
create index agent_secret_by_agent on agent_secret (agent_key);

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
  -- What confines the runs of the agent, as it reported when it registered.
  isolation jsonb not null,
  tools text[] not null,
  work_folder text not null,
  slots integer not null,
  -- What its last heartbeat said of its machine.
  condition jsonb,
  said_goodbye boolean not null default false,
  contact_at timestamptz not null default now(),
  registered_at timestamptz not null default now()
);

-- Agents that run the deployments of projects; sub-projects without a row have the agent of the nearest project above.
create table project_agent (
  project_id uuid primary key references project on delete cascade,
  organization_id uuid not null references organization,
  -- Null: the default agent of the organization, whatever the projects above have.
  agent_key text references agent
);
create index project_agent_of_organization on project_agent (organization_id);
create index project_agent_by_agent on project_agent (agent_key);

-- Agents that organizations have chosen for projects without an agent.
create table default_agent (
  organization_id uuid primary key references organization,
  agent_key text not null references agent
);
create index default_agent_by_agent on default_agent (agent_key);

create sequence fence;

create table job (
  id uuid primary key,
  deployment_id uuid not null references deployment on delete cascade,
  phase text not null check (phase in ('plan', 'apply')),
  level integer not null default 1,
  status text not null check (status in ('queued', 'claimed', 'done')),
  -- Only agents with this tool can take the job, for an apply also only the one with this folder.
  tool text not null,
  work_folder text,
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  -- 0: applies, 1: deploys, 2: plans that change nothing, 3: what no one waits for.
  class smallint not null,
  -- Agents take the job with the earliest time first: that of its creation, and later for each class.
  rank_at timestamptz not null,
  constraint job_once unique (deployment_id, phase, level)
);
create index job_queued on job (rank_at, id) where status = 'queued';

create table attempt (
  job_id uuid not null references job on delete cascade,
  number integer not null,
  fence bigint not null unique,
  agent_process_id uuid not null references agent_process,
  status text not null check (status in ('claimed', 'ended')),
  missed_lists integer not null default 0,
  mark text,
  -- The next expected line of the attempt's events, and where each step's log began with this attempt.
  events_stored integer not null default 0,
  log_bases jsonb not null default '{}',
  state_version_id uuid,
  outcome_sha256 text,
  -- How often the outcome could not be stored: at some point its deployment has to end without it.
  finish_failures integer not null default 0,
  claimed_at timestamptz not null default now(),
  -- When the agent received the attempt and sent its outcome, by the agent's clock: only the difference is meaningful.
  received_at timestamptz,
  sent_at timestamptz,
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

-- # State

create table state_version (
  id uuid primary key,
  environment_id uuid not null references environment,
  deployment_id uuid references deployment,
  job_id uuid,
  attempt integer,
  number bigint generated always as identity,
  origin text not null default 'run' check (origin in ('run', 'moved', 'http', 'import', 'rollback', 'promotion')),
  created_by text references app_user,
  comment text,
  serial bigint not null,
  lineage text not null,
  terraform_version text,
  sha256 text not null,
  bytes bigint not null,
  -- Versions can be removed: those that follow them, or were made from them, then refer to no other version.
  follows_id uuid references state_version on delete set null,
  -- The version whose content a roll-back or a promotion restored.
  made_from_id uuid references state_version on delete set null,
  -- Written over HTTP under this lock: one listed version per lock, just as there is one per attempt.
  lock_id text,
  standing text not null check (standing in ('current', 'superseded', 'rescued')),
  -- The lineage is that of another environment: the version is kept, and shown to the operator only.
  is_withheld boolean not null default false,
  blob jsonb not null,
  resource_count integer,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (job_id, attempt)
);
create index state_version_by_environment on state_version (environment_id, number desc);
create unique index state_version_one_current on state_version (environment_id) where standing = 'current';
create index state_version_by_lineage on state_version (lineage);
create index state_version_by_followed on state_version (follows_id) where follows_id is not null;
create index state_version_by_source on state_version (made_from_id) where made_from_id is not null;

-- Held by a tool outside of runs; deployments of the environment wait for it.
create table state_lock (
  environment_id uuid primary key references environment,
  lock_id text not null,
  info jsonb not null,
  held_by text not null references app_user,
  held_since timestamptz not null
);

-- Who may read a state over HTTP, besides those with the right. No row: nobody.
create table state_access (
  environment_id uuid primary key references environment on delete cascade,
  id uuid not null unique,
  is_open_to_organization boolean not null,
  allowed_project_ids text[] not null default '{}',
  updated_by text not null references app_user,
  updated_at timestamptz not null
);

-- # Roles, teams and provisioning

-- Custom roles. The order of the rights is that of the request.
create table role (
  id uuid primary key,
  organization_id uuid not null references organization,
  name text not null,
  permissions text[] not null,
  is_default boolean not null default false,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (organization_id, name)
);

create table team (
  id uuid primary key,
  organization_id uuid not null references organization,
  name text not null,
  description text not null default '',
  -- New members of the organization join this team.
  is_default boolean not null default false,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (organization_id, name)
);
create index team_newest_first on team (organization_id, id);

create table team_member (
  team_id uuid not null references team on delete cascade,
  user_id text not null references app_user,
  -- As in organization_member.
  source text,
  primary key (team_id, user_id)
);
create index team_member_by_user on team_member (user_id);

-- The role of a user or a team in a project or an environment; of a team also in the organization. Users have theirs there as members.
create table role_assignment (
  id uuid primary key,
  organization_id uuid not null references organization,
  user_id text references app_user,
  team_id uuid references team on delete cascade,
  project_id uuid references project,
  environment_id uuid references environment on delete cascade,
  -- The name of a built-in role, or the id of a custom one.
  role text not null,
  role_id uuid references role,
  source text,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(user_id, team_id) = 1),
  check (num_nonnulls(project_id, environment_id) <= 1),
  check (team_id is not null or num_nonnulls(project_id, environment_id) = 1)
);
create unique index role_assignment_of_user_in_project on role_assignment (user_id, project_id) where user_id is not null and project_id is not null;
create unique index role_assignment_of_user_in_environment on role_assignment (user_id, environment_id) where user_id is not null and environment_id is not null;
create unique index role_assignment_of_team_in_project on role_assignment (team_id, project_id) where team_id is not null and project_id is not null;
create unique index role_assignment_of_team_in_environment on role_assignment (team_id, environment_id) where team_id is not null and environment_id is not null;
create unique index role_assignment_of_team_in_organization on role_assignment (team_id) where project_id is null and environment_id is null;
create index role_assignment_by_project on role_assignment (project_id) where project_id is not null;
create index role_assignment_by_environment on role_assignment (environment_id) where environment_id is not null;
create index role_assignment_by_role on role_assignment (role_id) where role_id is not null;

create function raise_access_version() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    update organization set access_version = access_version + 1 where id = old.organization_id;
  end if;
  if tg_op <> 'DELETE' and (tg_op = 'INSERT' or new.organization_id is distinct from old.organization_id) then
    update organization set access_version = access_version + 1 where id = new.organization_id;
  end if;
  return null;
end $$;
create trigger organization_member_raises_access_version after insert or update or delete on organization_member
  for each row execute function raise_access_version();
create trigger role_raises_access_version after update or delete on role
  for each row execute function raise_access_version();
create trigger role_assignment_raises_access_version after insert or update or delete on role_assignment
  for each row execute function raise_access_version();
create trigger project_raises_access_version after insert or delete or update of hierarchy on project
  for each row execute function raise_access_version();

create function raise_access_version_of_team() returns trigger language plpgsql as $$
begin
  update organization set access_version = access_version + 1
    where id in (select organization_id from team where id in (old.team_id, new.team_id));
  return null;
end $$;
create trigger team_member_raises_access_version after insert or update or delete on team_member
  for each row execute function raise_access_version_of_team();
-- Deleting a team cascades to its members, and the trigger of their rows no longer finds the team.
create trigger team_raises_access_version after delete on team
  for each row execute function raise_access_version();

-- People join the default teams, however they become members; keys only get explicit assignments.
create function join_default_teams() returns trigger language plpgsql as $$
begin
  insert into team_member (team_id, user_id)
    select team.id, new.user_id from team join app_user on app_user.id = new.user_id
    where team.organization_id = new.organization_id and team.is_default and not app_user.is_api_key
    on conflict do nothing;
  return null;
end $$;
create trigger organization_member_joins_default_teams after insert on organization_member
  for each row execute function join_default_teams();

-- However a membership ends: a former member who returns gets nothing back.
create function leave_organization() returns trigger language plpgsql as $$
begin
  delete from team_member where user_id = old.user_id
    and team_id in (select id from team where organization_id = old.organization_id);
  delete from role_assignment where user_id = old.user_id and organization_id = old.organization_id;
  return null;
end $$;
create trigger organization_member_leaves_organization after delete on organization_member
  for each row execute function leave_organization();

-- Identity providers provision people and teams (SCIM 2.0).
create table scim_token (
  id uuid primary key,
  organization_id uuid not null references organization,
  secret_hmac bytea not null,
  created_by text not null references app_user,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index scim_token_by_organization on scim_token (organization_id, created_at desc, id desc);

-- Attributes of a member from the provider of one organization; other organizations of the person do not see them.
create table scim_user (
  organization_id uuid not null,
  user_id text not null,
  external_id text,
  -- name, displayName and emails, as in the request
  attributes jsonb not null,
  -- The provider created the person, and may therefore change name and e-mail of the account.
  has_created_person boolean not null,
  updated_at timestamptz not null,
  primary key (organization_id, user_id),
  foreign key (organization_id, user_id) references organization_member on delete cascade
);

create table scim_group (
  team_id uuid primary key references team on delete cascade,
  external_id text
);

-- # Audit trail, events and deferred work

-- The HMAC proves that the service wrote an entry.
create table audit_event (
  number bigint generated always as identity primary key,
  id uuid not null default gen_random_uuid(),
  at timestamptz not null default now(),
  organization_id uuid,
  project_id uuid,
  actor_id text not null,
  key_id text,
  address text,
  action text not null,
  entity text not null,
  entity_id text not null,
  request_id text,
  details jsonb not null default '{}',
  before jsonb,
  after jsonb,
  mac bytea not null
);
create index audit_event_by_entity on audit_event (entity, entity_id, number);

-- Entries of the audit trail are added, never changed or removed, whatever statement the service executes.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'entries of the audit trail cannot be changed or removed';
end $$;
create trigger audit_event_is_append_only
  before update or delete or truncate on audit_event
  for each statement execute function refuse_audit_change();

-- Entries in the order of the chains: written after the commit, so that no transaction waits for the entry of another one.
-- What lists filter by is copied, because its indexes would slow the transactions that write entries.
create table audit_link (
  position bigint primary key,
  root_hash bytea not null,
  chain text not null,
  number bigint not null,
  previous_hash bytea not null,
  content_hash bytea not null,
  hash bytea not null,
  event_number bigint not null unique,
  -- An entry that was copied is not linked.
  event_id uuid not null unique,
  at timestamptz not null,
  actor_id text not null,
  action text not null,
  entity text not null,
  entity_id text not null,
  project_id uuid,
  unique (chain, number)
);
create index audit_link_by_time on audit_link (chain, at, number);
create index audit_link_by_actor on audit_link (chain, actor_id, number);
create index audit_link_by_action on audit_link (chain, action, number);
create index audit_link_by_entity on audit_link (chain, entity_id, number);
create index audit_link_by_project on audit_link (chain, project_id, number) where project_id is not null;
create trigger audit_link_is_append_only
  before update or delete or truncate on audit_link
  for each statement execute function refuse_audit_change();

-- The last link of each chain, and of all together (chain root), under an HMAC with the installation's key.
create table audit_head (
  chain text primary key,
  number bigint not null,
  hash bytea not null,
  mac bytea not null,
  -- Of root: the last linked entry, and earlier numbers whose transactions may still commit.
  progress jsonb
);

-- A reply can contain a secret that is shown once; sealed, it also comes back byte for byte.
create table idempotency_key (
  actor_id text not null,
  key text not null,
  request_sha256 text not null,
  sealed_reply bytea,
  created_at timestamptz not null default now(),
  primary key (actor_id, key)
);

-- What the event stream of an organization replays. Ordered by transaction, then number: a reader gets only what every
-- earlier transaction has committed, so that nothing appears before the position that it has reached.
create table organization_event (
  organization_id uuid not null references organization,
  transaction xid8 not null default pg_current_xact_id(),
  number bigint generated always as identity,
  project_id uuid,
  environment_id uuid,
  deployment_id uuid,
  name text not null,
  data jsonb not null,
  at timestamptz not null default now(),
  primary key (organization_id, transaction, number)
);
create index organization_event_by_age on organization_event (at);

-- Work that a transaction deferred. A row is deleted once its work is done.
create table effect (
  id uuid primary key,
  kind text not null,
  payload jsonb not null,
  created_at timestamptz not null default now(),
  due_at timestamptz not null,
  -- How often the work failed.
  attempts integer not null default 0,
  last_error text,
  -- It failed too often and is no longer retried.
  failed_at timestamptz
);
create index effect_due on effect (due_at) where failed_at is null;

-- # Notifications

-- Endpoints that receive events, their assignments, and the log of deliveries, which also is the outbox: its rows are
-- written in the transaction of the change.
create table notification_endpoint (
  id uuid primary key,
  organization_id uuid not null references organization,
  name text not null,
  type text not null check (type in ('Slack', 'Teams', 'Email', 'Webhook')),
  sealed_value bytea not null,
  sealed_webhook_secret bytea,
  -- Attempts that failed since the last one that succeeded, and until when the endpoint is therefore paused.
  failures integer not null default 0,
  paused_until timestamptz,
  created_by text not null references app_user,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (organization_id, name)
);

create table notification_assignment (
  id uuid primary key,
  endpoint_id uuid not null references notification_endpoint on delete cascade,
  organization_id uuid not null,
  project_id uuid not null references project,
  event_names text[] not null,
  created_by text not null references app_user,
  created_at timestamptz not null,
  unique (project_id, endpoint_id)
);
create index notification_assignment_of_endpoint on notification_assignment (endpoint_id);

create table notification_delivery (
  id uuid primary key,
  -- The same for all endpoints that receive the event.
  event_id uuid not null,
  endpoint_id uuid not null references notification_endpoint on delete cascade,
  organization_id uuid not null,
  project_id uuid not null,
  -- Null: an event of the project.
  environment_id uuid,
  deployment_id uuid,
  event_name text not null,
  -- The situation at the time of the event; never a secret.
  facts jsonb not null,
  status text not null check (status in ('waiting', 'delivered', 'failed')),
  -- Recipients of the e-mail so far, while others have yet to receive it; null: nobody so far.
  delivered_to text[],
  attempts integer not null default 0,
  created_at timestamptz not null,
  due_at timestamptz not null,
  -- When the service stops trying.
  give_up_at timestamptz not null,
  finished_at timestamptz,
  last_error text,
  last_request jsonb
);
create index notification_delivery_waiting on notification_delivery (endpoint_id, due_at) where status = 'waiting';
create index notification_delivery_of_organization on notification_delivery (organization_id, id);
create index notification_delivery_by_age on notification_delivery (created_at) where status <> 'waiting';

create table notification_attempt (
  delivery_id uuid not null references notification_delivery on delete cascade,
  number integer not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  response jsonb,
  error jsonb,
  primary key (delivery_id, number)
);

-- # Bulk operations

-- The same operation on several environments. Each item is finished in the transaction that carries it out.
create table bulk_operation (
  id uuid primary key,
  organization_id uuid not null references organization on delete cascade,
  kind text not null,
  -- The parameters that all items share; null once all of them are finished.
  sealed_data bytea,
  created_by text not null references app_user,
  -- For the audit trail, where another server continues.
  key_id text,
  address text,
  request_id text not null,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index bulk_operation_by_age on bulk_operation (created_at);

create table bulk_operation_item (
  operation_id uuid not null references bulk_operation on delete cascade,
  -- In the order of the request.
  position integer not null check (position >= 0),
  -- Stays when the environment is deleted.
  environment_id uuid not null,
  status text not null default 'pending' check (status in ('pending', 'success', 'failed')),
  error text,
  deployment_id uuid,
  -- The plan that waited when the operation was accepted: only that one is approved or cancelled. Null: none waited.
  waiting_deployment_id uuid,
  waiting_plan_hash text,
  finished_at timestamptz,
  primary key (operation_id, position)
);

-- # Costs

-- What a project may cost in a timeframe; thresholds are percentages of the amount, in the order of the request.
create table budget (
  id uuid primary key,
  project_id uuid not null unique references project,
  amount double precision not null check (amount > 0),
  timeframe text not null check (timeframe in ('WEEKLY', 'MONTHLY', 'QUARTERLY', 'YEARLY')),
  thresholds integer[] not null,
  updated_by text not null references app_user,
  updated_at timestamptz not null
);

-- The credentials that read the costs of a project.
create table cost_credential_assignment (
  project_id uuid not null references project,
  credential_id uuid not null references credential,
  created_by text not null references app_user,
  created_at timestamptz not null,
  primary key (project_id, credential_id)
);
create index cost_credential_assignment_by_credential on cost_credential_assignment (credential_id);

-- # Environment discovery

-- Finds the environments of a project; repository, credentials and tool settings are those of its template.
create table discovery (
  project_id uuid primary key references project,
  template_id uuid not null unique references template,
  -- The tool of the environments; null in file mode.
  type text,
  -- Null in file mode, as the next ones.
  glob_pattern text,
  root_path text,
  environment_placement text,
  workspace_naming text,
  auto_deploy_by_custom_glob text,
  creates_from_pull_requests boolean not null default false,
  -- Null in glob mode.
  repository_regex text,
  on_removal text not null,
  removal_limit_percent integer not null,
  -- Rises with each change: a scan that began before it ends.
  version integer not null default 1,
  -- The head and the version of the last scan that succeeded; in file mode, a digest of the heads of all repositories.
  scanned_commit text,
  scanned_version integer,
  next_poll_at timestamptz not null,
  updated_by text not null references app_user,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index discovery_by_poll on discovery (next_poll_at);

create table discovery_scan (
  id uuid primary key,
  project_id uuid not null references discovery on delete cascade,
  cause text not null,
  status text not null default 'RUNNING',
  version integer not null,
  -- A person asked for it: it reads everything again.
  is_forced boolean not null default false,
  is_unchanged boolean not null default false,
  commit_hash text,
  error text,
  -- When the folders were read; what is left to do is in their rows then.
  listed_at timestamptz,
  files integer,
  matched integer,
  created integer not null default 0,
  removed integer not null default 0,
  -- Folders that match without an environment, and environments that could not be removed.
  failed integer not null default 0,
  passed_over_count integer not null default 0,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index discovery_scan_by_project on discovery_scan (project_id, created_at desc);

-- What is known of each folder, and of each entry of a discovery file; it outlives the configuration, so that none of
-- them becomes two environments.
create table discovery_folder (
  project_id uuid not null references project,
  kind text not null default 'folder' check (kind in ('folder', 'entry')),
  -- The address; of an entry, the host and the path.
  repository text not null,
  -- Empty: the root. Of an entry, its key in the file; empty: the file.
  folder text not null,
  file text not null,
  -- Ids of git, which tell a renamed folder.
  file_id text not null,
  tree_id text not null,
  status text not null,
  reason text,
  environment_id uuid references environment on delete set null,
  -- The environment as it will be, or would be.
  environment_name text,
  environment_project_id uuid,
  workspace_name text,
  renamed_from text,
  -- Of an entry: its template, settings and variables.
  sealed_entry bytea,
  -- Variables of the environment that its entry has set.
  variable_names text[] not null default '{}',
  primary key (project_id, kind, repository, folder)
);
create index discovery_folder_by_environment on discovery_folder (environment_id);
