-- Who switched the approvals of an environment off: that counts against what its project demands only with the rights
-- of that user. Null: they are on, or an earlier version did not record it.
alter table environment add column approval_lifted_by text;

-- Not valid: a large table would be read while nobody can use it. 0086 validates the constraint.
alter table deployment drop constraint deployment_approval_decided_by_check;
alter table deployment add constraint deployment_approval_decided_by_check
  check (approval_decided_by in ('planner', 'variable', 'policy', 'project', 'request', 'environment')) not valid;
