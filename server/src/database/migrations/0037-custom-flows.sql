-- Custom flows and approval policies are templates of a type of their own; these are the places where they hold.
create unique index template_name_of_type on template (organization_id, type, name)
  where not is_deleted and type in ('approval-policy', 'custom-flow');

create table flow_assignment (
  id uuid primary key,
  template_id uuid not null references template,
  scope text not null check (scope in ('ORGANIZATION', 'PROJECT', 'BLUEPRINT')),
  scope_id uuid not null,
  -- Among the flows of one place; null: after those that have one.
  position integer,
  created_by text not null references app_user,
  created_at timestamptz not null,
  unique (scope, scope_id, template_id)
);
create index flow_assignment_by_template on flow_assignment (template_id);
