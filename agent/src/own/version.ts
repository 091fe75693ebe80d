import manifest from '../../../package.json' with { type: 'json' };

/** Of this program, and of the service that it belongs to. */
export const version: string = manifest.version;
