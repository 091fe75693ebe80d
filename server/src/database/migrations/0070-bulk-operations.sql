-- The same operation on several environments. Each row of an item is finished in the transaction that carries the item out.
create table bulk_operation (
  id uuid primary key,
  organization_id uuid not null references organization on delete cascade,
  kind text not null,
  -- What the request says about every item; null once all of them are finished.
  sealed_data bytea,
  created_by text not null references app_user,
  -- For the audit trail, where another server continues.
  key_id text,
  address text,
  request_id text not null,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index bulk_operation_by_age on bulk_operation (created_at);

create table bulk_operation_item (
  operation_id uuid not null references bulk_operation on delete cascade,
  -- In the order of the request.
  position integer not null check (position >= 0),
  -- Stays when the environment is deleted.
  environment_id uuid not null,
  status text not null default 'pending' check (status in ('pending', 'success', 'failed')),
  error text,
  deployment_id uuid,
  finished_at timestamptz,
  primary key (operation_id, position)
);
