/** Files of a run, relative to the configuration's folder. */

import { ownFolder } from '../interface/own-folder.ts';

/** Holds the chart of a chart repository, below its name. */
export const pulledFolder = `${ownFolder}/chart`;
/** The configuration and the cache of helm. */
export const helmHome = `${ownFolder}/helm`;
