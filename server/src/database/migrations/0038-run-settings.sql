-- What template and environment set for the runs of a deployment when it was requested, apart from its code.
alter table deployment add column run_settings jsonb;
