-- Policies of an organization, and what they say about pull requests and flows.
alter table organization
  add column do_not_report_skipped_status_checks boolean not null default false,
  add column do_not_consider_merge_commits_for_pr_plans boolean not null default false,
  add column enable_oidc boolean not null default false,
  add column enforce_pr_commenter_permissions boolean not null default false,
  add column allow_mergeable_bypass_for_pr_apply boolean not null default false,
  add column require_approval_for_pr_applies boolean not null default false,
  add column disable_pr_comments boolean not null default false,
  add column allow_service_secrets boolean not null default false,
  add column project_custom_flows_policy text not null default 'OVERRIDE_TEMPLATES';

-- The hidden project for tests of modules: one per organization, no sibling of any other.
alter table project add column is_testing boolean not null default false;
drop index project_name_among_siblings;
create unique index project_name_among_siblings on project (organization_id, coalesce(parent_project_id, '00000000-0000-0000-0000-000000000000'), name)
  where not is_archived and not is_testing;
create unique index project_for_testing on project (organization_id) where is_testing;

alter table environment
  add column tags text[] not null default '{}',
  -- Notices sent before the automatic destroy, and when the next notice or the destroy is due; null: nothing is.
  add column marked_for_auto_destroy smallint not null default 0,
  add column next_ttl_at timestamptz,
  -- What the search looks through: name, workspace, id and repository in lower case, a line each.
  add column search_text text not null default '';
create index environment_ttl_due on environment (next_ttl_at) where next_ttl_at is not null;
create index environment_by_tag on environment using gin (tags);
-- Notices come before the destroy: the first of them, or what is left of them, at once.
update environment set next_ttl_at = lifespan_end_at - interval '2 days' where lifespan_end_at > now();

-- Cron patterns of an environment: deploy, destroy, driftDetection.
create table schedule (
  environment_id uuid not null references environment,
  action text not null check (action in ('deploy', 'destroy', 'driftDetection')),
  id uuid not null unique,
  cron text not null,
  is_enabled boolean not null,
  auto_drift_remediation text,
  -- Null: it never runs (switched off, or a pattern without a next date).
  next_run_at timestamptz,
  created_by text not null references app_user,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (environment_id, action)
);
create index schedule_due on schedule (next_run_at) where next_run_at is not null;
-- Without a next date: the service works it out at its next start.
insert into schedule (environment_id, action, id, cron, is_enabled, created_by)
  select id, 'driftDetection', gen_random_uuid(), drift_detection ->> 'cron', (drift_detection ->> 'enabled')::boolean, user_id
  from environment where drift_detection ->> 'cron' is not null;
alter table environment drop column drift_detection;

-- What a run is and who requested it, as of the request; the rest is added on the way.
alter table deployment add column facts jsonb not null default '{}';

create function environment_search_text() returns trigger language plpgsql as $$
begin
  new.search_text := lower(concat_ws(E'\n', new.name, new.workspace_name, new.id::text, (select repository from template where id = new.template_id)));
  return new;
end $$;
create trigger environment_search_text before insert or update of name, workspace_name, template_id on environment
  for each row execute function environment_search_text();
create function template_search_text() returns trigger language plpgsql as $$
begin
  update environment set template_id = template_id where template_id = new.id;
  return new;
end $$;
create trigger template_search_text after update of repository on template
  for each row when (old.repository is distinct from new.repository) execute function template_search_text();
create index environment_by_template on environment (template_id);
update environment set template_id = template_id;

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

-- Lists of what stands outside of workflows are paged and counted without reading the rows. For counting, indexes of few
-- distinct values, which PostgreSQL keeps small: 50,000 rows in 45 pages instead of 415.
create index environment_listed on environment (organization_id, created_at desc, id desc) include (is_archived) where workflow_environment_id is null;
create index environment_counted on environment (organization_id, is_archived) where workflow_environment_id is null;
create index environment_counted_by_project on environment (project_id, is_archived) where workflow_environment_id is null;

-- What the event stream of an organization replays. Ordered by transaction, then number: a reader gets only what every
-- transaction before it has committed, so that nothing appears behind the place that it has reached.
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
