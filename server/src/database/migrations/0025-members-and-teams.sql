-- A membership is the assignment of a role in the organization, and is named like other assignments.
alter table organization_member add column id uuid not null default gen_random_uuid();

-- Whatever makes somebody a member: people join the default teams, and keys only get what they are given.
create function join_default_teams() returns trigger language plpgsql as $$
begin
  insert into team_member (team_id, user_id)
    select team.id, new.user_id from team join app_user on app_user.id = new.user_id
    where team.organization_id = new.organization_id and team.is_default and not app_user.is_api_key
    on conflict do nothing;
  return null;
end $$;
create trigger organization_member_joins_default_teams after insert on organization_member
  for each row execute function join_default_teams();

-- Whatever ends a membership: nothing that a former member had is there again when it returns.
create function leave_organization() returns trigger language plpgsql as $$
begin
  delete from team_member where user_id = old.user_id
    and team_id in (select id from team where organization_id = old.organization_id);
  delete from role_assignment where user_id = old.user_id and organization_id = old.organization_id;
  return null;
end $$;
create trigger organization_member_leaves_organization after delete on organization_member
  for each row execute function leave_organization();

create index team_newest_first on team (organization_id, id);
