-- An environment that never had resources can be deleted with its deployments. Rows that name files (attempt_blob,
-- source_archive, state_version) and locks of states have no cascade: they are deleted first, or forbid the deletion.
alter table review
  drop constraint review_deployment_id_fkey,
  add constraint review_deployment_id_fkey foreign key (deployment_id) references deployment on delete cascade;
alter table deployment_step
  drop constraint deployment_step_deployment_id_fkey,
  add constraint deployment_step_deployment_id_fkey foreign key (deployment_id) references deployment on delete cascade;
alter table log_chunk
  drop constraint log_chunk_step_id_fkey,
  add constraint log_chunk_step_id_fkey foreign key (step_id) references deployment_step on delete cascade;
alter table deployment_event
  drop constraint deployment_event_deployment_id_fkey,
  add constraint deployment_event_deployment_id_fkey foreign key (deployment_id) references deployment on delete cascade;
alter table job
  drop constraint job_deployment_id_fkey,
  add constraint job_deployment_id_fkey foreign key (deployment_id) references deployment on delete cascade;
alter table attempt
  drop constraint attempt_job_id_fkey,
  add constraint attempt_job_id_fkey foreign key (job_id) references job on delete cascade;
alter table schedule
  drop constraint schedule_environment_id_fkey,
  add constraint schedule_environment_id_fkey foreign key (environment_id) references environment on delete cascade;
alter table state_access
  drop constraint state_access_environment_id_fkey,
  add constraint state_access_environment_id_fkey foreign key (environment_id) references environment on delete cascade;
