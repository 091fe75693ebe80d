-- A deleted agent has no secrets and is not shown; its row is what the attempts that it ran refer to.
alter table agent add column deleted_at timestamptz;
