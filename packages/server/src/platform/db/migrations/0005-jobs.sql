-- Long work. A worker holds a running job by a lease that it renews; whoever finds the lease expired takes the job over.
create table jobs (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  -- who asked for it, null for the server itself; no reference, since the work outlives the account
  created_by text,
  kind text not null,
  state text not null default 'queued' check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  input jsonb not null,
  -- the data directory that holds what the job reads; null: any node can run it
  pinned_to text,
  phase text not null,
  done integer not null default 0,
  total integer,
  unit text not null check (unit in ('files', 'chunks')),
  report jsonb,
  error_code text,
  error_message text,
  -- Grows with every take-over: a worker that lost its lease writes under an old number, and writes nothing.
  attempt integer not null default 0,
  attempts_left integer not null check (attempts_left >= 0),
  run_after timestamptz not null default now(),
  lease_until timestamptz,
  -- grows with every change that a watcher should see
  version bigint not null default 0,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  check ((state = 'running') = (lease_until is not null)),
  check ((state in ('succeeded', 'failed', 'cancelled')) = (finished_at is not null))
);
create index jobs_of_workspace on jobs (workspace_id, id desc);
create index jobs_to_run on jobs (id) where state in ('queued', 'running');
create index jobs_of_user on jobs (created_by) where state in ('queued', 'running');

alter table jobs enable row level security;
create policy jobs_scope on jobs to atelier_app
  using (workspace_id = current_workspace_id())
  with check (workspace_id = current_workspace_id());
grant select, insert, update on jobs to atelier_app;
