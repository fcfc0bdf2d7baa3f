-- Documents of a workspace and what search needs of them. A content is kept, cut and embedded once a workspace, whatever
-- the number of paths it has.

-- Grows with every change of a workspace's index: a node compares it with what it holds in memory. Its row lock also
-- makes writers of one workspace take turns.
create table retrieval_indexes (
  workspace_id text primary key references workspaces (id) on delete cascade,
  version bigint not null default 0,
  updated_at timestamptz not null default now()
);

create table contents (
  id bigint generated always as identity primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  -- of the file's bytes, hexadecimal
  content_sha256 text not null check (content_sha256 ~ '^[0-9a-f]{64}$'),
  -- what it was cut as, '' for an unknown language: the same text is cut differently as C and as C++
  language text not null,
  -- version of the rules it was cut by; 0: kept but not indexed
  indexer integer not null,
  text text not null,
  unique (workspace_id, content_sha256, language)
);

create table documents (
  id text primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  path text not null,
  content_sha256 text not null check (content_sha256 ~ '^[0-9a-f]{64}$'),
  bytes bigint not null,
  language text,
  status text not null check (status in ('indexed', 'skipped', 'failed')),
  -- why it was skipped (a word of the program) or what failed (a sentence)
  reason text,
  -- null: no text is kept (binary, too large, vendored)
  content_id bigint references contents (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (workspace_id, path),
  check ((status = 'indexed') = (reason is null)),
  check (status <> 'indexed' or content_id is not null)
);
create index documents_content on documents (content_id);

-- Whole lines of a content; joined in order they are its text.
create table chunks (
  id bigint generated always as identity primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  content_id bigint not null references contents (id) on delete cascade,
  ordinal integer not null,
  start_line integer not null,
  end_line integer not null,
  -- where it is in contents.text, in characters as `substr` counts them
  start_character integer not null,
  characters integer not null,
  header text not null,
  symbols text[] not null,
  -- its terms with their counts by field: features/retrieval/chunk-terms.ts
  terms bytea not null,
  unique (content_id, ordinal)
);
create index chunks_workspace on chunks (workspace_id, id);

-- Vectors of several models may be here at once, while a workspace moves from one to another.
create table chunk_vectors (
  chunk_id bigint not null references chunks (id) on delete cascade,
  model text not null,
  dimensions integer not null,
  workspace_id text not null references workspaces (id) on delete cascade,
  -- of retrieval_indexes when it was written
  version bigint not null,
  -- no length in the type, since it differs between models; unit length
  embedding halfvec not null check (vector_dims(embedding) = dimensions),
  primary key (chunk_id, model, dimensions)
);
-- Without model and dimensions on purpose: with them a planner without statistics takes this index for the look-up of one
-- chunk's vector, too.
create index chunk_vectors_version on chunk_vectors (workspace_id, version);

-- The sub-select makes the planner ask for the workspace once a statement instead of once a row.
alter table retrieval_indexes enable row level security;
alter table retrieval_indexes force row level security;
create policy retrieval_indexes_scope on retrieval_indexes to atelier_app
  using (workspace_id = (select current_workspace_id())) with check (workspace_id = (select current_workspace_id()));

alter table contents enable row level security;
alter table contents force row level security;
create policy contents_scope on contents to atelier_app
  using (workspace_id = (select current_workspace_id())) with check (workspace_id = (select current_workspace_id()));

alter table documents enable row level security;
alter table documents force row level security;
create policy documents_scope on documents to atelier_app
  using (workspace_id = (select current_workspace_id())) with check (workspace_id = (select current_workspace_id()));

alter table chunks enable row level security;
alter table chunks force row level security;
create policy chunks_scope on chunks to atelier_app
  using (workspace_id = (select current_workspace_id())) with check (workspace_id = (select current_workspace_id()));

alter table chunk_vectors enable row level security;
alter table chunk_vectors force row level security;
create policy chunk_vectors_scope on chunk_vectors to atelier_app
  using (workspace_id = (select current_workspace_id())) with check (workspace_id = (select current_workspace_id()));

grant select, insert, update, delete on retrieval_indexes, contents, documents, chunks, chunk_vectors to atelier_app;
