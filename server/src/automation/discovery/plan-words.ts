/** Reasons of planned states, in the words of folders or of entries in discovery files. */

export type FoundKind = 'folder' | 'entry';

export interface PlanWords {
  readonly deleted: string;
  readonly notMatched: string;
  readonly gone: string;
  readonly returned: string;
  readonly archive: string;
  readonly destroy: string;
  /** Begins the sentence that says why. */
  readonly notRemoved: string;
}

const folderIsGone = 'The folder is not in the repository any more; its environment is';
const entryIsGone = 'The entry is not in the discovery file any more; its environment is';

export const planWords: Readonly<Record<FoundKind, PlanWords>> = {
  folder: {
    deleted: 'Its environment was deleted; it is not created again while the folder is there',
    notMatched: 'globPattern or rootPath does not include the folder any more; its environment is kept',
    gone: `${folderIsGone} kept`,
    returned: 'The folder was gone and is back: restore its environment, or deploy it',
    archive: `${folderIsGone} archived`,
    destroy: `${folderIsGone} destroyed`,
    notRemoved: 'The folder is gone, and its environment could not be removed',
  },
  entry: {
    deleted: 'Its environment was deleted; it is not created again while the entry is there',
    notMatched:
      'repositoryRegex does not match the repository any more, or no template of the project names it; its environment is kept',
    gone: `${entryIsGone} kept`,
    returned: 'The entry was gone and is back: restore its environment, or deploy it',
    archive: `${entryIsGone} archived`,
    destroy: `${entryIsGone} destroyed`,
    notRemoved: 'The entry is gone, and its environment could not be removed',
  },
};
