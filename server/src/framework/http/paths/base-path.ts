/** The path below which people and programs reach the service, where a proxy gives it only a part of a host. */
import type { ServerSettings } from '../../../ground/config/config.ts';

/** The path of `ENVARIUM_BASE_URL` without a slash at its end; empty where the service has a whole host. */
export function basePathOf({ baseUrl }: Pick<ServerSettings, 'baseUrl'>): string {
  return baseUrl === undefined ? '' : new URL(baseUrl).pathname.replace(/\/+$/, '');
}
