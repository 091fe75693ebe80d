-- Approval policies are assigned: its plan is checked by them.
alter table deployment add column has_policies boolean not null default false;

-- What each approval policy said about a plan.
create table policy_verdict (
  deployment_id uuid not null references deployment on delete cascade,
  -- 1 after the plan, then one more after each approval.
  round integer not null check (round > 0),
  policy_id uuid not null references template,
  -- As it was then.
  policy_name text not null,
  repository text not null,
  revision text not null,
  path text not null,
  decision text not null check (decision in ('error', 'deny', 'pending', 'allow', 'none')),
  messages jsonb not null,
  error text,
  commit_hash text,
  content_hash text,
  milliseconds integer not null,
  created_at timestamptz not null,
  primary key (deployment_id, round, policy_id)
);
create index policy_verdict_by_policy on policy_verdict (policy_id, created_at desc);
