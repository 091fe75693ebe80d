-- People belong to organizations, alone and in teams; roles are assigned to both, in an organization, a project or an environment.
alter table organization_member
  add column status text not null default 'Active' check (status in ('Active', 'Invited')),
  -- What made the person a member: null a person, otherwise what keeps the membership in step (a claim at sign-in, SCIM).
  add column source text,
  add column created_at timestamptz not null default now();

-- Nobody signs in as a blocked user, and none of its keys is accepted.
alter table app_user add column is_blocked boolean not null default false;

-- Custom roles. The order of the rights is the one in which they were sent.
create table role (
  id uuid primary key,
  organization_id uuid not null references organization,
  name text not null,
  permissions text[] not null,
  is_default boolean not null default false,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (organization_id, name)
);

create table team (
  id uuid primary key,
  organization_id uuid not null references organization,
  name text not null,
  description text not null default '',
  -- New members of the organization join this team.
  is_default boolean not null default false,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (organization_id, name)
);

create table team_member (
  team_id uuid not null references team on delete cascade,
  user_id text not null references app_user,
  -- As in organization_member.
  source text,
  primary key (team_id, user_id)
);
create index team_member_by_user on team_member (user_id);

-- The role of a user or a team in a project or an environment; of a team also in the organization. Users have theirs there as members.
create table role_assignment (
  id uuid primary key,
  organization_id uuid not null references organization,
  user_id text references app_user,
  team_id uuid references team on delete cascade,
  project_id uuid references project,
  environment_id uuid references environment on delete cascade,
  -- The name of a built-in role, or the id of a custom one.
  role text not null,
  role_id uuid references role,
  source text,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(user_id, team_id) = 1),
  check (num_nonnulls(project_id, environment_id) <= 1),
  check (team_id is not null or num_nonnulls(project_id, environment_id) = 1)
);
create unique index role_assignment_of_user_in_project on role_assignment (user_id, project_id) where user_id is not null and project_id is not null;
create unique index role_assignment_of_user_in_environment on role_assignment (user_id, environment_id) where user_id is not null and environment_id is not null;
create unique index role_assignment_of_team_in_project on role_assignment (team_id, project_id) where team_id is not null and project_id is not null;
create unique index role_assignment_of_team_in_environment on role_assignment (team_id, environment_id) where team_id is not null and environment_id is not null;
create unique index role_assignment_of_team_in_organization on role_assignment (team_id) where project_id is null and environment_id is null;
create index role_assignment_by_project on role_assignment (project_id) where project_id is not null;
create index role_assignment_by_environment on role_assignment (environment_id) where environment_id is not null;
create index role_assignment_by_role on role_assignment (role_id) where role_id is not null;

-- Grows with every change of who may do what in an organization: servers keep the rights of a caller for as long as it is the same.
alter table organization add column access_version bigint not null default 0;

create function raise_access_version() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    update organization set access_version = access_version + 1 where id = old.organization_id;
  end if;
  if tg_op <> 'DELETE' and (tg_op = 'INSERT' or new.organization_id is distinct from old.organization_id) then
    update organization set access_version = access_version + 1 where id = new.organization_id;
  end if;
  return null;
end $$;
create trigger organization_member_raises_access_version after insert or update or delete on organization_member
  for each row execute function raise_access_version();
create trigger role_raises_access_version after update or delete on role
  for each row execute function raise_access_version();
create trigger role_assignment_raises_access_version after insert or update or delete on role_assignment
  for each row execute function raise_access_version();
create trigger project_raises_access_version after insert or delete or update of hierarchy on project
  for each row execute function raise_access_version();

create function raise_access_version_of_team() returns trigger language plpgsql as $$
begin
  update organization set access_version = access_version + 1
    where id in (select organization_id from team where id in (old.team_id, new.team_id));
  return null;
end $$;
create trigger team_member_raises_access_version after insert or update or delete on team_member
  for each row execute function raise_access_version_of_team();
-- With the team, its members go without a word: the team is gone when their rows are.
create trigger team_raises_access_version after delete on team
  for each row execute function raise_access_version();
