-- What decided whether a plan waits for a person; null: made before this was recorded.
alter table deployment add column approval_decided_by text
  check (approval_decided_by in ('planner', 'variable', 'policy', 'request', 'environment'));

-- For whom the service itself started it, such as the person who set its schedule; null: for nobody.
alter table deployment add column requested_by text references app_user;

-- Nobody approves the same plan twice.
create unique index review_once on review (deployment_id, user_id) where action = 'approved';

-- Whether people may approve plans that they started; null: what the project above says.
alter table project_policy add column self_approval_forbidden boolean;
