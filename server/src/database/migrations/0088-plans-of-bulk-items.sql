-- The plan that waited when the operation was accepted: only that one is approved or cancelled. Null: none waited.
alter table bulk_operation_item
  add column waiting_deployment_id uuid,
  add column waiting_plan_hash text;
