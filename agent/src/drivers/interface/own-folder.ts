/** In the configuration's folder: holds what a run writes there for itself. */
export const ownFolder = '.envarium';
