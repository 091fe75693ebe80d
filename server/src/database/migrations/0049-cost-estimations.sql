-- The policy of the project includes cost estimation: its plan has a step for it.
alter table deployment add column estimates_costs boolean not null default false;
-- What the plan costs; null: not estimated.
alter table deployment add column cost_estimation jsonb;
