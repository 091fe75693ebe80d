/** One service for the test files of this folder, with an organization for each. */
import { pathWith, placeOf, toolboxProgram } from '../../tools/toolbox/places.ts';
import { joinService, type SharedService, sharedService } from '../shared-service.ts';

const service = sharedService({
  settings: {
    PATH: pathWith(toolboxProgram('opentofu')),
    ENVARIUM_LOG_LEVEL: 'warn',
    ENVARIUM_AGENT_CONCURRENCY: '3',
    ENVARIUM_OPA: placeOf('opa') ?? '',
    ENVARIUM_NOTIFICATION_NETWORKS: '127.0.0.1',
    ENVARIUM_NOTIFICATION_HTTP_HOSTS: '127.0.0.1',
  },
});

/** @returns the service with a new organization; it starts at the first call */
export async function joinOneService(): Promise<SharedService> {
  return joinService(await service());
}
