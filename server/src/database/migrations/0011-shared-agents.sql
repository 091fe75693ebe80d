-- Agents that run deployments of all organizations: only the operator creates secrets for them.
alter table agent add column is_shared boolean not null default false;
update agent set is_shared = true where is_default;
