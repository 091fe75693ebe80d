-- The names that the rest of the tables use; only the interface calls a template a blueprint.
alter table deployment rename column blueprint_id to template_id;
alter table deployment rename column blueprint_name to template_name;
alter table deployment rename column blueprint_repository to repository;
alter table deployment rename column blueprint_revision to revision;
alter table deployment rename column blueprint_path to path;
alter table deployment rename column blueprint_type to tool;
alter table deployment rename constraint deployment_blueprint_id_fkey to deployment_template_id_fkey;

-- The commit that a destroy or a task takes over from the last deploy, apart from the revision that was
-- requested and from the commit that the run checked out.
alter table deployment add column commit_to_run text;
update deployment set commit_to_run = commit_hash
  where follows_last_deploy and type = 'destroy' and revision = commit_hash;
