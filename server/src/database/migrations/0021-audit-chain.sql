-- Entries say with which address and key something was done, and what was there before and after. The HMAC
-- shows that the service wrote an entry; entries of versions before have none.
alter table audit_event
  add column id uuid not null default gen_random_uuid(),
  add column project_id uuid,
  add column key_id text,
  add column address text,
  add column before jsonb,
  add column after jsonb,
  add column mac bytea;

-- Entries in the order of the chains: written after the commit, so that no transaction waits for another one's
-- entry. What lists filter by is copied, because its indexes would cost the transactions that write entries.
create table audit_link (
  position bigint primary key,
  root_hash bytea not null,
  chain text not null,
  number bigint not null,
  previous_hash bytea not null,
  content_hash bytea not null,
  hash bytea not null,
  event_number bigint not null unique,
  -- An entry that was copied is not linked.
  event_id uuid not null unique,
  at timestamptz not null,
  actor_id text not null,
  action text not null,
  entity text not null,
  entity_id text not null,
  project_id uuid,
  unique (chain, number)
);
create index audit_link_by_time on audit_link (chain, at, number);
create index audit_link_by_actor on audit_link (chain, actor_id, number);
create index audit_link_by_action on audit_link (chain, action, number);
create index audit_link_by_entity on audit_link (chain, entity_id, number);
create index audit_link_by_project on audit_link (chain, project_id, number) where project_id is not null;
create trigger audit_link_is_append_only
  before update or delete or truncate on audit_link
  for each statement execute function refuse_audit_change();

-- The last link of each chain, and of all together (chain root), under an HMAC with the installation's key.
create table audit_head (
  chain text primary key,
  number bigint not null,
  hash bytea not null,
  mac bytea not null,
  -- Of root: how far entries were linked, and numbers before that whose transactions may still commit.
  progress jsonb
);
