-- What confines the runs of an agent, as it reported when it registered; null: the agent is too old to report it.
alter table agent_process add column isolation jsonb;
