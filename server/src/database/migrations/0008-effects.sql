-- Work that a transaction promised for afterwards. A row is deleted once its work is done.
create table effect (
  id uuid primary key,
  kind text not null,
  payload jsonb not null,
  created_at timestamptz not null default now(),
  due_at timestamptz not null,
  -- How often the work has failed.
  attempts integer not null default 0,
  last_error text,
  -- Set when it has failed too often: nobody tries it again.
  failed_at timestamptz
);
create index effect_due on effect (due_at) where failed_at is null;

-- Uploaded code expires by a promise from now on, and what is there already too.
insert into effect (id, kind, payload, due_at)
  select gen_random_uuid(), 'source.expire', jsonb_build_object('sourceId', id), expires_at
  from source_archive where blob is not null;
