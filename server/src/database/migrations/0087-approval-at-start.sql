-- Whether the plan waits, as it was decided when the deployment was made, with the projects whose demand nobody has
-- lifted: each round of approval policies begins with it. Null: made before this was recorded.
alter table deployment add column approval_at_start jsonb;
