-- Endpoints that hear of events, where they are assigned, and the log of what was sent, which also is the
-- outbox: rows are written in the transaction of the change.
create table notification_endpoint (
  id uuid primary key,
  organization_id uuid not null references organization,
  name text not null,
  type text not null check (type in ('Slack', 'Teams', 'Email', 'Webhook')),
  sealed_value bytea not null,
  sealed_webhook_secret bytea,
  -- Attempts that failed since the last one that succeeded, and until when it is therefore left alone.
  failures integer not null default 0,
  paused_until timestamptz,
  created_by text not null references app_user,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (organization_id, name)
);

create table notification_assignment (
  id uuid primary key,
  endpoint_id uuid not null references notification_endpoint on delete cascade,
  organization_id uuid not null,
  project_id uuid not null references project,
  event_names text[] not null,
  created_by text not null references app_user,
  created_at timestamptz not null,
  unique (project_id, endpoint_id)
);
create index notification_assignment_of_endpoint on notification_assignment (endpoint_id);

create table notification_delivery (
  id uuid primary key,
  -- The same for all endpoints that hear of one event.
  event_id uuid not null,
  endpoint_id uuid not null references notification_endpoint on delete cascade,
  organization_id uuid not null,
  project_id uuid not null,
  environment_id uuid not null,
  deployment_id uuid,
  event_name text not null,
  -- What was so when it happened; never a secret.
  facts jsonb not null,
  status text not null check (status in ('waiting', 'delivered', 'failed')),
  attempts integer not null default 0,
  created_at timestamptz not null,
  due_at timestamptz not null,
  -- When it is given up.
  give_up_at timestamptz not null,
  finished_at timestamptz,
  last_error text,
  last_request jsonb
);
create index notification_delivery_waiting on notification_delivery (endpoint_id, due_at) where status = 'waiting';
create index notification_delivery_of_organization on notification_delivery (organization_id, id);
create index notification_delivery_by_age on notification_delivery (created_at) where status <> 'waiting';

create table notification_attempt (
  delivery_id uuid not null references notification_delivery on delete cascade,
  number integer not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  response jsonb,
  error jsonb,
  primary key (delivery_id, number)
);
