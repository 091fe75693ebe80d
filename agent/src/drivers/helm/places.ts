/** Where the files of a run are, relative to the configuration's folder. */

/** Holds all files of ours; charts from git do not contain it. */
export const ownFolder = '.envarium';
/** Holds the chart of a chart repository, below its name. */
export const pulledFolder = `${ownFolder}/chart`;
/** The configuration and the cache of helm. */
export const helmHome = `${ownFolder}/helm`;
