-- With the workspace, which row-level security asks for: a planner without statistics otherwise reads all documents of the
-- workspace for each content, and a replaced tree takes quadratic time.
drop index documents_content;
create index documents_content on documents (content_id, workspace_id);
