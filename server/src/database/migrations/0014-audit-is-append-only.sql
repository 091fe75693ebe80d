-- Entries of the audit trail are added, never changed or removed, whatever statement the service is made to run.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'entries of the audit trail cannot be changed or removed';
end $$;
create trigger audit_event_is_append_only
  before update or delete or truncate on audit_event
  for each statement execute function refuse_audit_change();
