-- Projects, with everything below them, whose environments may use a token or a key; none: all of the organization.
alter table git_token add column project_ids uuid[] not null default '{}';
alter table ssh_key add column project_ids uuid[] not null default '{}';
