-- Tokens for specific hosts: git hosts besides the repository's, and private registries.
alter table git_token
  add column type text not null default 'GIT' check (type in ('GIT', 'REGISTRY')),
  add column hosts text[] not null default '{}';
