/** The version of this release, as agents and the interface's description tell it. */
import manifest from '../../package.json' with { type: 'json' };

export const version: string = manifest.version;
