-- Secrets that the service makes for an environment, such as the passphrase of its stack; runs get them, and nobody reads them.
create table environment_secret (
  environment_id uuid not null references environment,
  name text not null,
  sealed_value bytea not null,
  created_at timestamptz not null default now(),
  primary key (environment_id, name)
);
