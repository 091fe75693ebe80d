/**
 * One service for all test files of a process that need no settings, kills or restarts of their own: each works in
 * an organization of its own. What is shared starts at its first use and ends after the last test of the process.
 */
import { type Client, createClient } from '#contract/client/client.ts';
import { atEndOfProcess } from '../tools/suite/end-of-file.ts';
import { type Home, homeOf } from './runs.ts';
import { type RunningService, type ServiceOptions, startService } from './service.ts';

/** A service as the tests of one organization see it. */
export interface SharedService {
  readonly url: string;
  /** Scratch folder of the service. */
  readonly folder: string;
  /** Id and secret of an API key with the role Admin in the organization, and in no other one. */
  readonly key: string;
  readonly secret: string;
  /** Calls with that key. */
  readonly client: Client;
  readonly home: Home;
  /** Calls with the first key of the installation, whose user is an admin of all these organizations. */
  readonly operator: Client;
}

/** Something that all test files of this process use. @returns opens it at the first call */
export function shared<Value>(
  open: () => Promise<Value>,
  close: (value: Value) => Promise<unknown>,
): () => Promise<Value> {
  let opened: Promise<Value> | undefined;
  return () => {
    if (opened === undefined) {
      const opening = open();
      opened = opening;
      atEndOfProcess(async () => {
        const value = await opening.catch(() => undefined);
        if (value !== undefined) await close(value);
      });
    }
    return opened;
  };
}

/** A service that all test files of this process use. @returns starts it at the first call */
export function sharedService(options: ServiceOptions = {}): () => Promise<RunningService> {
  return shared(
    () => startService(options),
    async (service) => service[Symbol.asyncDispose](),
  );
}

let organizations = 0;

/** Creates an organization with a key of its own. */
export async function joinService({ client: operator, url, folder }: RunningService): Promise<SharedService> {
  const { id } = await operator.call('createOrganization', {
    body: { name: `Organization ${++organizations}` },
  });
  const { apiKeyId: key, apiKeySecret: secret } = await operator.call('createApiKey', {
    body: { organizationId: id, name: 'Key of the tests' },
  });
  const client = createClient({ url, key, secret });
  return { url, folder, key, secret, client, home: await homeOf(client), operator };
}
