-- Templates that many environments share. Names are unique among those that people create, per organization.
create unique index template_name on template (organization_id, name)
  where not is_single_use and not is_deleted and type not in ('module', 'approval-policy', 'custom-flow', 'environment-discovery');
create index template_listed on template (organization_id, created_at desc, id desc) where not is_single_use and not is_deleted;

alter table environment
  -- Whether its template belongs to it alone.
  add column is_single_use_template boolean not null default true,
  -- What replaces the template's own for this environment; null: nothing does.
  add column template_revision text,
  add column template_repository text;

-- The repository that an environment is found by is the one that it is deployed from.
create or replace function environment_search_text() returns trigger language plpgsql as $$
begin
  new.search_text := lower(concat_ws(E'\n', new.name, new.workspace_name, new.id::text,
    coalesce(new.template_repository, (select repository from template where id = new.template_id))));
  return new;
end $$;
drop trigger environment_search_text on environment;
create trigger environment_search_text before insert or update of name, workspace_name, template_id, template_repository on environment
  for each row execute function environment_search_text();
