-- Why somebody approved or refused a plan.
alter table review add column comment text;
