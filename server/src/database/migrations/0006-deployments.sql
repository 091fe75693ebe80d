-- Code that a person uploaded for remote plans.
create table source_archive (
  id uuid primary key,
  environment_id uuid not null references environment,
  path text not null,
  sha256 text not null,
  bytes bigint not null,
  -- Null once it has expired and its file is gone.
  blob jsonb,
  created_by text not null references app_user,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index source_archive_expiry on source_archive (expires_at) where blob is not null;

alter table deployment
  add column source_id uuid references source_archive,
  -- Runs at the commit that was deployed last when its turn comes, and not when it was requested.
  add column follows_last_deploy boolean not null default false;

alter table deployment_step add column retry_count integer not null default 0;

-- How often the outcome could not be stored: at some point its deployment has to end without it.
alter table attempt add column finish_failures integer not null default 0;

-- Only an agent that speaks at least this protocol can take a job.
alter table agent_process add column protocol_minor integer not null default 0;
alter table job add column protocol_minor integer not null default 0;
