-- People who sign in: passwords, sessions, identities of providers, invitations, and sign-ins that are under way.

alter table app_user
  -- Proven by a provider of identities; otherwise somebody wrote it.
  add column is_email_verified boolean not null default false,
  -- The account is gone: what remains of it is a name that says nothing.
  add column deleted_at timestamptz;
create unique index person_by_email on app_user (lower(email)) where not is_api_key and email <> '';

create table password (
  user_id text primary key references app_user,
  -- argon2id in the PHC format, sealed: neither the database nor the key file alone is enough to guess passwords.
  sealed_hash bytea not null,
  changed_at timestamptz not null default now()
);

create table session (
  id uuid primary key,
  user_id text not null references app_user,
  -- A browser sends its session as a cookie, the command line as credentials.
  kind text not null check (kind in ('browser', 'cli')),
  secret_hmac bytea not null,
  -- What the person proved: 'password', 'oidc' or 'invitation'.
  way text not null,
  address text not null,
  user_agent text not null,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  expires_at timestamptz not null
);
create index session_by_user on session (user_id, created_at desc, id desc);
create index session_by_expiry on session (expires_at);

-- Failed sign-ins of an account, or from an address; the keys are HMACs.
create table sign_in_attempt (
  key bytea primary key,
  failures integer not null,
  last_failed_at timestamptz not null,
  -- No further attempt is accepted before.
  wait_until timestamptz not null
);
create index sign_in_attempt_by_age on sign_in_attempt (last_failed_at);

-- Where a person has signed in from: failures elsewhere do not make the person wait there.
create table sign_in_address (
  user_id text not null references app_user,
  address text not null,
  last_at timestamptz not null,
  primary key (user_id, address)
);

create table oidc_identity (
  issuer text not null,
  subject text not null,
  user_id text not null references app_user,
  created_at timestamptz not null default now(),
  last_sign_in_at timestamptz not null default now(),
  primary key (issuer, subject)
);
create index oidc_identity_by_user on oidc_identity (user_id);

-- Sign-ins that wait for the answer of a provider; each is used once.
create table oidc_request (
  state_sha256 bytea primary key,
  sealed_details bytea not null,
  expires_at timestamptz not null
);
create index oidc_request_by_expiry on oidc_request (expires_at);

-- Codes that a browser hands to the command line; each is used once.
create table cli_code (
  code_sha256 bytea primary key,
  user_id text not null references app_user,
  way text not null,
  code_challenge text not null,
  redirect_uri text not null,
  expires_at timestamptz not null
);
create index cli_code_by_expiry on cli_code (expires_at);

create table invitation (
  id uuid primary key,
  organization_id uuid not null references organization,
  user_id text not null references app_user,
  email text not null,
  -- As they were sent.
  permissions jsonb not null,
  secret_hmac bytea not null,
  created_by text not null references app_user,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  revoked_at timestamptz
);
create index invitation_by_organization on invitation (organization_id, created_at desc, id desc);
create unique index open_invitation on invitation (organization_id, user_id) where accepted_at is null and revoked_at is null;
