/** Workspaces that one person may own. */
export const maxOwnedWorkspaces = 100

/** People in one workspace; the list of them is answered whole. */
export const maxMembers = 100

/** Entries of one kind that an import's report lists; beyond that it only counts. */
export const maxReportedEntries = 1_000

/** How long what an upload left on disk is kept without a job, in milliseconds; longer than any request may take. */
export const stagingAgeMilliseconds = 15 * 60_000
