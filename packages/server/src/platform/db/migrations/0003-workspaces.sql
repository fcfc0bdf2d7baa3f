create table workspaces (
  id text primary key,
  name text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table workspace_members (
  workspace_id text not null references workspaces (id) on delete cascade,
  user_id text not null references users (id) on delete cascade,
  role text not null check (role in ('viewer', 'editor', 'owner')),
  created_at timestamptz not null default now(),
  -- answers the guard of every request
  primary key (workspace_id, user_id)
);
-- A person's list, newest workspace first.
create index workspace_members_user on workspace_members (user_id, workspace_id desc);

alter table workspaces enable row level security;
create policy workspaces_scope on workspaces to atelier_app
  using (id = current_workspace_id())
  with check (id = current_workspace_id());

alter table workspace_members enable row level security;
create policy workspace_members_scope on workspace_members to atelier_app
  using (workspace_id = current_workspace_id())
  with check (workspace_id = current_workspace_id());

-- A workspace comes into being before it has a scope, so the system makes it.
grant select, update, delete on workspaces to atelier_app;
grant select, insert, update, delete on workspace_members to atelier_app;
