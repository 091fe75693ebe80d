-- Where clients want the logs of an agent to be; nothing reads it yet.
alter table agent add column logs jsonb;
