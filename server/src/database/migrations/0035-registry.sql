-- Records of modules, providers and keys that sign providers.
create table registry_module (
  id uuid primary key,
  organization_id uuid not null references organization,
  name text not null,
  provider text not null,
  -- Where its code is, how it is read and tested.
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
