-- Lists of environments by name, by what expires first, and by what has finished lately.
create index environment_sorted_by_name on environment (organization_id, lower(name), id) where workflow_environment_id is null;
create index environment_sorted_by_end on environment (organization_id, lifespan_end_at, id) where workflow_environment_id is null;
create index deployment_finished on deployment (finished_at) where finished_at is not null;
