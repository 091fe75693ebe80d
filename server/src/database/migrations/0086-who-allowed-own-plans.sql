-- Who said last that people may, or may not, approve their own plans: that they may counts against what a project above
-- demands only with the rights of that user. Null: nobody has said anything, or an earlier version did not record it.
alter table project_policy add column self_approval_set_by text;

-- Added by 0074 without reading the rows: here they are read while others write.
alter table deployment validate constraint deployment_approval_decided_by_check;
