-- Who set a schedule last: what it starts belongs to that person; null: whoever created it.
alter table schedule add column set_by text references app_user;
