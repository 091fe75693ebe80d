/** One service and one browser for the test files of this folder, with an organization and an administrator each. */
import type { Browser } from 'playwright-core';
import { placeOf } from '../../../tools/toolbox/places.ts';
import { joinService, type SharedService, shared, sharedService } from '../../shared-service.ts';
import { startBrowser } from '../browser.ts';
import { admin, createAdmin, type Person } from '../showcase.ts';

/** A service and a browser as the tests of one organization see them. */
export interface SharedWebService extends SharedService, AsyncDisposable {
  readonly browser: Browser;
  /** The administrator of the organization, who is in no other one. */
  readonly admin: Person;
}

const service = sharedService({
  isLaunched: true,
  settings: {
    ENVARIUM_RATE_LIMIT: '0',
    ENVARIUM_OPA: placeOf('opa') ?? '',
    ENVARIUM_NOTIFICATION_NETWORKS: '127.0.0.1',
    ENVARIUM_NOTIFICATION_HTTP_HOSTS: '127.0.0.1',
  },
});
const browser = shared(startBrowser, (each) => each.close());
let people = 0;

/** Creates an organization with an administrator. Its end closes all windows of the browser. */
export async function joinWebService(): Promise<SharedWebService> {
  const [running, started] = await Promise.all([service(), browser()]);
  const joined = await joinService(running);
  const person = { ...admin, email: `ada-${++people}@example.com` };
  await createAdmin(joined.operator, person, joined.home.organizationId);
  return {
    ...joined,
    browser: started,
    admin: person,
    async [Symbol.asyncDispose]() {
      for (const context of started.contexts()) await context.close();
    },
  };
}
