-- People. The sign-in library owns the meaning of users, sessions, accounts and verifications; the rest is ours.
create table users (
  id text primary key,
  name text not null,
  -- normalised before it comes here, so that one mailbox is one account
  email text not null unique check (email = lower(email)),
  email_verified boolean not null default false,
  image text,
  role text not null default 'user' check (role in ('admin', 'user')),
  banned boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- At most one row, ever: whoever inserts it is the first account. It outlives that account, so that deleting the
-- administrator does not make the next stranger who signs up one.
create table administrator_claim (
  singleton boolean primary key default true check (singleton),
  user_id text not null,
  claimed_at timestamptz not null default now()
);

-- A trigger, because sign-ups run in parallel: all but one wait here for the first to commit, then find the claim.
create function first_user_is_administrator() returns trigger
  language plpgsql as $$
begin
  insert into administrator_claim (user_id) values (new.id) on conflict do nothing;
  if found then
    new.role := 'admin';
  end if;
  return new;
end
$$;

create trigger first_user_is_administrator before insert on users
  for each row execute function first_user_is_administrator();

-- `token` is of no use without the installation's secret: a cookie carries its signature beside it.
create table sessions (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  token text not null unique,
  -- absolute end; the idle end is counted from last_active_at
  expires_at timestamptz not null,
  last_active_at timestamptz not null default now(),
  ip_address text,
  user_agent text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index sessions_user_id on sessions (user_id);

-- Ways to sign in: provider_id `credential` holds the scrypt hash of the password.
create table accounts (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  account_id text not null,
  provider_id text not null,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (provider_id, account_id)
);
create index accounts_user_id on accounts (user_id);

create table verifications (
  id text primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index verifications_identifier on verifications (identifier);

-- Key pairs that sign access tokens. The private half is encrypted with a key derived from the installation's secret.
create table jwks (
  id text primary key,
  public_key jsonb not null,
  encrypted_private_key bytea not null,
  created_at timestamptz not null,
  -- when it stops signing; tokens it signed are verified for a while longer
  expires_at timestamptz not null
);

create table api_keys (
  id text primary key,
  -- the part of the key that is not secret and finds this row
  public_id text not null unique,
  user_id text not null references users (id) on delete cascade,
  name text not null,
  -- SHA-256 of the whole key
  key_hash bytea not null,
  scopes text[] not null,
  -- null: every workspace of the user
  workspace_ids text[],
  created_at timestamptz not null,
  expires_at timestamptz not null,
  last_used_at timestamptz,
  -- kept after revocation, so that a later use is recognised and recorded
  revoked_at timestamptz
);
create index api_keys_user_id on api_keys (user_id);
