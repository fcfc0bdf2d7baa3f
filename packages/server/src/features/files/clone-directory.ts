/** A repository is cloned into a directory of this name in the root, and moved into place when it is whole. */
export const clonePrefix = '.atelier-import-'
