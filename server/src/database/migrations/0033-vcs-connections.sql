-- Connections to self-hosted forges, with the token that their repositories are read with.
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
