-- Whether the plan of a level changed anything: the deployment as a whole did if one of its levels did.
alter table deployment_level
  add column has_changes boolean,
  add column has_resource_changes boolean;
