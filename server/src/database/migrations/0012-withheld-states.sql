-- A state of a run whose lineage is that of another environment is kept, and shown to the operator only.
alter table state_version add column is_withheld boolean not null default false;
create index state_version_by_lineage on state_version (lineage);
