-- Tokens that are sent to hosts of their own: those of git beside the repository's, and those of private registries.
alter table git_token
  add column type text not null default 'GIT' check (type in ('GIT', 'REGISTRY')),
  add column hosts text[] not null default '{}';
