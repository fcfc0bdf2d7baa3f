-- Vectors of retrieval. Making the extension takes a superuser; where one has made it already, any login will do.
create extension if not exists vector;

-- The role that every workspace transaction takes on. It owns nothing and cannot log in, so row-level security binds it
-- even where the login is a superuser. Roles belong to the whole cluster: an administrator, another database, or another
-- node at this very moment may have made it already.
do $$
begin
  if not exists (select from pg_roles where rolname = 'atelier_app') then
    create role atelier_app nologin noinherit;
  end if;
exception
  when duplicate_object or unique_violation then null;
end
$$;

do $$
begin
  if exists (select from pg_roles where rolname = 'atelier_app' and (rolsuper or rolbypassrls)) then
    raise exception 'the role atelier_app must be neither superuser nor bypassrls';
  end if;
end
$$;

-- The login must be allowed to take the role on. A superuser may anyway.
do $$
begin
  if not pg_has_role(current_user, 'atelier_app', 'member') then
    execute format('grant atelier_app to %I', current_user);
  end if;
end
$$;

grant usage on schema public to atelier_app;

-- The workspace of this transaction, null outside one: `null = workspace_id` admits no row.
create function current_workspace_id() returns text
  language sql stable parallel safe
  return nullif(current_setting('atelier.workspace_id', true), '');
