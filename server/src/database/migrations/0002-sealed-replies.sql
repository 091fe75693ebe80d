-- A reply can hold a secret that is shown once; sealed, it also comes back as it was, byte for byte.
delete from idempotency_key;
alter table idempotency_key drop column reply, add column sealed_reply bytea;
