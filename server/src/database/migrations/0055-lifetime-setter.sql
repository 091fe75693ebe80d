-- Who set the lifetime: the destroy at its end belongs to that person; null: the default of a policy, or set by older versions.
alter table environment add column ttl_set_by text references app_user;
