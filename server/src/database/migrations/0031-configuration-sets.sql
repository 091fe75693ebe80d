-- Configuration sets: named groups of variables (rows of `variable` with scope SET), assigned to many places.
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
  -- A deleted set is no longer assigned anywhere, but deployments that ran with it still name it.
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
