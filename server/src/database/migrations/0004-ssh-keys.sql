-- Private keys for repositories and modules over ssh; the value never leaves again.
create table ssh_key (
  id uuid primary key,
  organization_id uuid not null references organization,
  name text not null,
  sealed_value bytea not null,
  created_by text not null references app_user,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (organization_id, name)
);
