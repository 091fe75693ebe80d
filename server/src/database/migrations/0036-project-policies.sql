-- Policies of projects that have been changed; the others have the default one.
create table project_policy (
  project_id uuid primary key references project on delete cascade,
  updated_by text not null references app_user,
  updated_at timestamptz not null,
  number_of_environments integer,
  number_of_environments_total integer,
  max_ttl text,
  default_ttl text,
  requires_approval_default boolean not null,
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
  auto_drift_remediation text not null
);
