-- Errors, failed checks and warnings that the tool of a deployment reported.
alter table deployment add column diagnostics jsonb;
