-- How often the sandbox of a workspace has been started, by any node: a late agent of an earlier start is refused.
alter table workspaces add column session_epoch bigint not null default 0;
