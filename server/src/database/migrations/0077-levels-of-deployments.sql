-- A deployment may plan units once those are applied whose outputs they need: a level of its own, with a plan of its own.
-- What the current plan is about, and which level it is; null: the first one.
alter table deployment add column planned_units jsonb;
alter table deployment add column level jsonb;

-- The plans of earlier levels, which were applied.
create table deployment_level (
  deployment_id uuid not null references deployment on delete cascade,
  number integer not null,
  plan jsonb,
  plan_summary jsonb,
  plan_hash text,
  approved_parts jsonb,
  planned_units jsonb,
  applied_at timestamptz not null,
  primary key (deployment_id, number)
);

-- Each level has a plan and an apply.
alter table job add column level integer not null default 1;
alter table job add constraint job_once unique (deployment_id, phase, level);
alter table job drop constraint job_deployment_id_phase_key;

-- Nobody approves the same plan twice: a deployment has one for each level.
create unique index review_once_for_plan on review (deployment_id, user_id, coalesce(plan_hash, '')) where action = 'approved';
drop index review_once;
