-- One-time links that sign a person in; the newest of a user counts.
create table sign_in_link (
  user_id text primary key references app_user,
  secret_hmac bytea not null,
  created_by text not null references app_user,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
