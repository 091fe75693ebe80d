-- When an attempt came to its agent and left it, by the agent's clock: only their difference means anything.
alter table attempt
  add column received_at timestamptz,
  add column sent_at timestamptz;
