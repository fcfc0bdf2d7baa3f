-- Which data directory holds the workspace's files (`node-id` of platform/jobs); null: none yet, its documents are all
-- there is. A directory that was never made is filled from the documents at its first start.
alter table workspaces add column directory_node text;

-- Documents of a folder, and pages of all, in the byte order of paths.
create index documents_path on documents (workspace_id, path collate "C");
