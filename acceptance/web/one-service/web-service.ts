/** One service and one browser for the test files of this folder, with an organization and an administrator each. */
import type { Browser, Page } from 'playwright-core';
import { atEndOfFile } from '../../../tools/suite/end-of-file.ts';
import { placeOf } from '../../../tools/toolbox/places.ts';
import { joinService, type SharedService, shared, sharedService } from '../../shared-service.ts';
import { openPage, signIn, startBrowser } from '../browser.ts';
import { admin, createAdmin, type Person } from '../showcase.ts';

/** A service and a browser as the tests of one organization see them. */
export interface SharedWebService extends SharedService {
  readonly browser: Browser;
  /** The administrator of the organization, who is in no other one. */
  readonly admin: Person;
  /** A new profile with one page, in which the administrator is signed in. */
  signedIn(): Promise<Page>;
}

const service = sharedService({
  isLaunched: true,
  settings: {
    // The pages of approvals, sign-in and serving are tested with the default limit.
    ENVARIUM_RATE_LIMIT: '0',
    // Runs that a failed test leaves behind must not hold up the next files.
    ENVARIUM_AGENT_CONCURRENCY: '4',
    ENVARIUM_OPA: placeOf('opa') ?? '',
    ENVARIUM_NOTIFICATION_NETWORKS: '127.0.0.1',
    ENVARIUM_NOTIFICATION_HTTP_HOSTS: '127.0.0.1',
  },
});
const browser = shared(startBrowser, (each) => each.close());
let people = 0;

/** Creates an organization with an administrator. All windows of the browser are closed at the end of the file. */
export async function joinWebService(): Promise<SharedWebService> {
  const [running, started] = await Promise.all([service(), browser()]);
  atEndOfFile(async () => {
    for (const context of started.contexts()) await context.close();
  });
  const joined = await joinService(running);
  const person = { ...admin, email: `ada-${++people}@example.com` };
  await createAdmin(joined.operator, person, joined.home.organizationId);
  return {
    ...joined,
    browser: started,
    admin: person,
    async signedIn() {
      const page = await openPage(started);
      await signIn(page, joined.url, person);
      return page;
    },
  };
}
