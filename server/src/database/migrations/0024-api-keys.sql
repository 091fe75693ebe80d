-- Keys belong to an organization, as users of their own, or to a person; each has one secret or two.
alter table api_key
  -- Null: a personal key of its user, or the first key of the installation.
  add column organization_id uuid references organization,
  add column description text not null default '',
  -- The member who answers for the key.
  add column owner_id text references app_user,
  add column created_by text,
  add column expires_at timestamptz,
  -- In CIDR notation; empty: the key is accepted from everywhere.
  add column networks text[] not null default '{}',
  -- Of the first secret, which is secret_hmac.
  add column secret_id uuid not null default gen_random_uuid(),
  add column secret_created_at timestamptz not null default now(),
  add column secret_used_at timestamptz,
  add column second_secret_id uuid,
  add column second_secret_hmac bytea,
  add column second_secret_created_at timestamptz,
  add column second_secret_used_at timestamptz,
  add check (num_nulls(second_secret_id, second_secret_hmac, second_secret_created_at) in (0, 3));
update api_key set secret_created_at = created_at, secret_used_at = last_used_at;
create index api_key_by_organization on api_key (organization_id, created_at desc, id desc) where organization_id is not null;
create index api_key_by_user on api_key (user_id);
