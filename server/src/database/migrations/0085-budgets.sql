-- What a project may cost in a timeframe; thresholds are percentages of the amount, in the order sent.
create table budget (
  id uuid primary key,
  project_id uuid not null unique references project,
  amount double precision not null check (amount > 0),
  timeframe text not null check (timeframe in ('WEEKLY', 'MONTHLY', 'QUARTERLY', 'YEARLY')),
  thresholds integer[] not null,
  updated_by text not null references app_user,
  updated_at timestamptz not null
);

-- The credentials that read what a project costs.
create table cost_credential_assignment (
  project_id uuid not null references project,
  credential_id uuid not null references credential,
  created_by text not null references app_user,
  created_at timestamptz not null,
  primary key (project_id, credential_id)
);
create index cost_credential_assignment_by_credential on cost_credential_assignment (credential_id);
