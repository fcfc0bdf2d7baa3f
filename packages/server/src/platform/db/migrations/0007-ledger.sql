-- What models cost, and what they may cost. Money is exact: numeric, in USD.

-- One row a call that has ended. No references: a bill outlives accounts, workspaces and keys.
create table usage_entries (
  id bigint generated always as identity primary key,
  created_at timestamptz not null default now(),
  run_id text not null,
  user_id text not null,
  workspace_id text,
  api_key_id text,
  model text not null,
  provider text not null,
  finish_reason text not null,
  -- disjoint: no token is in two of them
  input_tokens bigint not null,
  cached_input_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  -- counted by us, because the provider did not report
  estimated boolean not null,
  -- null: the price is not known, which is not free
  cost numeric
);
create index usage_of_user on usage_entries (user_id, created_at);
create index usage_of_time on usage_entries (created_at);

create table budgets (
  id text primary key,
  subject text not null check (subject in ('everyone', 'user', 'workspace', 'api-key')),
  -- of the user, workspace or key; '' for everyone together
  subject_id text not null,
  period text not null check (period in ('day', 'month', 'total')),
  cap numeric not null check (cap >= 0),
  -- in the period that `period_start` begins
  spent numeric not null default 0,
  -- what calls under way may cost; it outlives a period, since they end in the next
  reserved numeric not null default 0 check (reserved >= 0),
  period_start timestamptz not null,
  created_at timestamptz not null default now(),
  unique (subject, subject_id, period),
  check ((subject = 'everyone') = (subject_id = ''))
);

-- Money that calls under way may cost. A call whose process has died leaves one behind; then it expires.
create table budget_reservations (
  call_id text not null,
  budget_id text not null references budgets (id) on delete cascade,
  amount numeric not null check (amount >= 0),
  expires_at timestamptz not null,
  primary key (call_id, budget_id)
);
create index budget_reservations_expired on budget_reservations (expires_at);

-- Where a period begins, in UTC.
create function budget_period_start(period text, at timestamptz) returns timestamptz
  language sql stable
  return case period
    when 'day' then date_trunc('day', at at time zone 'UTC') at time zone 'UTC'
    when 'month' then date_trunc('month', at at time zone 'UTC') at time zone 'UTC'
    else to_timestamp(0)
  end;
