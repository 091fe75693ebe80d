-- What became of a deployment, and what it caused: skipped for another one, a remediation of drift, deployments downstream.
alter table deployment add column skipped_for uuid;
alter table deployment add column caused_by uuid;
alter table deployment add column upstream_environment_id uuid;
-- The strategy of a single drift run; null: that of the environment.
alter table deployment add column drift_remediation text;
-- What followed from the drift that a drift run found.
alter table deployment add column remediation jsonb;
-- Nothing is caused twice, whatever died in between.
create unique index deployment_caused_once on deployment (caused_by, environment_id) where caused_by is not null;

-- Environments that are deployed after another one.
create table downstream (
  upstream_id uuid not null references environment on delete cascade,
  downstream_id uuid not null references environment on delete cascade,
  created_by text not null references app_user,
  created_at timestamptz not null,
  -- What came of the last successful deployment upstream.
  last_at timestamptz,
  last_cause_id uuid,
  last_deployment_id uuid,
  last_reason text,
  primary key (upstream_id, downstream_id)
);
create index downstream_by_downstream on downstream (downstream_id);

-- Whether it has rows there: what has none costs nothing.
alter table environment add column has_downstream boolean not null default false;
