-- Versions can be removed: those that follow them, or were made from them, then name no other version.
alter table state_version
  drop constraint state_version_follows_id_fkey,
  drop constraint state_version_made_from_id_fkey,
  add foreign key (follows_id) references state_version on delete set null,
  add foreign key (made_from_id) references state_version on delete set null;
create index state_version_by_followed on state_version (follows_id) where follows_id is not null;
create index state_version_by_source on state_version (made_from_id) where made_from_id is not null;
