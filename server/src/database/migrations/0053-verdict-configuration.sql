-- What a policy was configured with: later rounds ask with the same; null: verdicts of older versions.
alter table policy_verdict add column configuration jsonb;
