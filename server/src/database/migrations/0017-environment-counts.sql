-- How many environments outside of workflows a project has: lists show their number on every page, and counting 50,000 rows
-- takes longer than reading the page. Written when a transaction commits, in a fixed order, so that transactions wait for each
-- other only while they commit.
create table environment_count (
  organization_id uuid not null references organization,
  project_id uuid not null references project,
  is_archived boolean not null,
  environments integer not null,
  primary key (organization_id, project_id, is_archived)
) with (fillfactor = 50);

create function count_environments() returns trigger language plpgsql as $$
begin
  insert into environment_count as counted (organization_id, project_id, is_archived, environments)
    select organization_id, project_id, is_archived, sum(change) from (
      select old.organization_id, old.project_id, old.is_archived, -1 as change
        where tg_op <> 'INSERT' and old.workflow_environment_id is null
      union all
      select new.organization_id, new.project_id, new.is_archived, 1
        where tg_op <> 'DELETE' and new.workflow_environment_id is null
    ) change group by 1, 2, 3 having sum(change) <> 0 order by 1, 2, 3
  on conflict (organization_id, project_id, is_archived)
    do update set environments = counted.environments + excluded.environments;
  return null;
end $$;
create constraint trigger environment_counted after insert or delete on environment
  deferrable initially deferred for each row execute function count_environments();
create constraint trigger environment_counted_again
  after update of organization_id, project_id, is_archived, workflow_environment_id on environment
  deferrable initially deferred for each row
  when ((old.organization_id, old.project_id, old.is_archived, old.workflow_environment_id)
    is distinct from (new.organization_id, new.project_id, new.is_archived, new.workflow_environment_id))
  execute function count_environments();
-- From here to the end of the migration, the triggers keep others from changing environments.
insert into environment_count
  select organization_id, project_id, is_archived, count(*) from environment where workflow_environment_id is null group by 1, 2, 3;

-- Served only for counting. Servers of the version before count with environment_listed until they are replaced.
drop index environment_counted;
drop index environment_counted_by_project;
