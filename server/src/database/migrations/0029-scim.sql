-- Identity providers provision people and teams (SCIM 2.0). A deactivated member keeps role and teams, which have no effect.
alter table organization_member
  drop constraint organization_member_status_check,
  add check (status in ('Active', 'Invited', 'Inactive'));

create table scim_token (
  id uuid primary key,
  organization_id uuid not null references organization,
  secret_hmac bytea not null,
  created_by text not null references app_user,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index scim_token_by_organization on scim_token (organization_id, created_at desc, id desc);

-- What the provider of one organization says about a member; other organizations of the person do not see it.
create table scim_user (
  organization_id uuid not null,
  user_id text not null,
  external_id text,
  -- name, displayName and emails, as they were sent
  attributes jsonb not null,
  -- The provider created the person, and may therefore change name and e-mail of the account.
  has_created_person boolean not null,
  updated_at timestamptz not null,
  primary key (organization_id, user_id),
  foreign key (organization_id, user_id) references organization_member on delete cascade
);

create table scim_group (
  team_id uuid primary key references team on delete cascade,
  external_id text
);
