-- A claimed attempt runs at once: its agent no longer reports that it has it on disk.
update attempt set status = 'claimed' where status = 'confirmed';
alter table attempt
  drop constraint attempt_status_check,
  add constraint attempt_status_check check (status in ('claimed', 'ended'));
