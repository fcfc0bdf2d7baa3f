-- Stored conversations, and the answers in them and outside them as numbered events. They belong to a person, not to a
-- workspace: no grant, so a workspace's scope sees none of them, and the stores ask for the person in every statement.

create table chats (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  -- what the next question is asked about
  workspace_id text references workspaces (id) on delete set null,
  title text not null,
  -- key of the model that answered last
  model text,
  -- grows with every message; messages are numbered by it
  messages integer not null default 0,
  created_at timestamptz not null default now(),
  -- to the millisecond, which is what a cursor can hold
  updated_at timestamptz (3) not null default now()
);
create index chats_of_user on chats (user_id, updated_at desc, id desc);

-- One row a message: a long conversation is never one value that each turn writes again.
create table chat_messages (
  chat_id text not null references chats (id) on delete cascade,
  -- from 1, without gaps
  position integer not null,
  id text not null unique,
  role text not null check (role in ('user', 'assistant')),
  content text not null,
  -- of an answer: model, provider, finish reason, usage, cost, citations, attempts, tool calls, run
  answer jsonb,
  created_at timestamptz not null default now(),
  primary key (chat_id, position)
);

-- An answer in the making, or made: it lives on without its reader.
create table runs (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  -- of whichever store keeps conversations, so no reference
  chat_id text,
  workspace_id text,
  state text not null check (state in ('running', 'finished', 'failed', 'stopped', 'lost')),
  -- number of the last event that is stored
  last_event integer not null default 0,
  stop_requested boolean not null default false,
  -- while it runs: renewed by the node that makes it; once it has passed, the run is lost
  lease_until timestamptz,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  check ((state = 'running') = (finished_at is null)),
  check ((state = 'running') = (lease_until is not null))
);
create index runs_of_user on runs (user_id, id desc);
create index runs_running on runs (lease_until) where state = 'running';
create index runs_finished on runs (finished_at) where state <> 'running';
create unique index runs_of_chat on runs (chat_id) where state = 'running' and chat_id is not null;

-- Events in the groups in which they were written.
create table run_events (
  run_id text not null references runs (id) on delete cascade,
  first_event integer not null,
  last_event integer not null,
  -- a JSON array, as text: it is passed on as it is
  events text not null,
  primary key (run_id, last_event),
  check (first_event >= 1 and first_event <= last_event)
);
