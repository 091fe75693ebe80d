-- A schedule may follow the clock of a place.
alter table schedule add column time_zone text not null default 'UTC';

-- A destroy at the end of a lifetime that was refused or has failed is tried again.
alter table environment
  add column ttl_attempts integer not null default 0,
  add column ttl_problem text;

-- Timers skip what is locked or archived.
drop index environment_ttl_due;
create index environment_ttl_due on environment (next_ttl_at)
  where next_ttl_at is not null and not is_locked and not is_archived;
