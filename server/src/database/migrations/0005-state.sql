-- Where a version came from, who made it and why, and which version of the tool wrote it.
alter table state_version
  add column origin text not null default 'run' check (origin in ('run', 'moved', 'http', 'import', 'rollback', 'promotion')),
  add column created_by text references app_user,
  add column comment text,
  add column terraform_version text,
  -- The version whose content a roll-back or a promotion restored.
  add column made_from_id uuid references state_version,
  -- Written over http under this lock: one listed version per lock, as there is one per attempt.
  add column lock_id text;

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
  environment_id uuid primary key references environment,
  id uuid not null unique,
  is_open_to_organization boolean not null,
  allowed_project_ids text[] not null default '{}',
  updated_by text not null references app_user,
  updated_at timestamptz not null
);
