-- Credentials of clouds; the value never leaves again except to runs. Without a project: of the whole organization.
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

-- Runs of the project and of those below get it.
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
