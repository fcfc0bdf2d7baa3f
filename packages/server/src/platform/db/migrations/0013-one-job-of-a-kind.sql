-- Chunks wait for vectors together: one re-embedding of a workspace takes them all.
create unique index jobs_reembed on jobs (workspace_id) where kind = 'reembed' and state in ('queued', 'running');
