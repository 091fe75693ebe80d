/**
 * Cost that an endpoint with 10,000 waiting notifications, each of which it holds for seconds, has for another one:
 * from the request that starts a deployment to the arrival of its webhook, before and during the load.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { connectTo } from '../measure/database.ts';
import { type Bench, type BenchResult, figure } from '../measure/figure.ts';
import { type BenchService, scratchFolder, startService } from '../measure/service.ts';

/** Below the ten seconds after which an attempt is over. */
const holdMilliseconds = 8000;

interface Receiver extends AsyncDisposable {
  readonly address: string;
  /** Requests that are held now. */
  held(): number;
  /** Resolves when a notification about an environment of this name arrives at the quick endpoint. */
  arrival(environment: string): Promise<void>;
}

interface NotificationBody {
  readonly data: { readonly environment: { readonly name: string } };
}

async function openReceiver(): Promise<Receiver> {
  const waiting = new Map<string, () => void>();
  let held = 0;
  const server = createServer((request, response) => {
    const answer = async () => {
      const { data } = JSON.parse(await text(request)) as NotificationBody;
      if (request.url === '/slow') {
        held++;
        await delay(holdMilliseconds, undefined, { ref: false });
        held--;
      } else waiting.get(data.environment.name)?.();
      response.end();
    };
    answer().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held: () => held,
    arrival: (name) =>
      new Promise((resolve) => {
        waiting.set(name, resolve);
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function assign({ client }: BenchService, name: string, value: string): Promise<string> {
  const [project] = await client.call('listProjects');
  const { id: projectId = '', organizationId = '' } = project ?? {};
  const body = { organizationId, name, type: 'Webhook', value } as const;
  const { id: endpointId } = await client.call('createNotificationEndpoint', { body });
  await client.call('assignNotificationEndpoint', {
    params: { projectId, endpointId },
    body: { eventNames: ['environmentDeployStarted'] },
  });
  return endpointId;
}

/** Starts deployments one after the other. @returns milliseconds until each webhook arrived */
async function measure(
  { client }: BenchService,
  receiver: Receiver,
  count: number,
  names: string,
): Promise<number[]> {
  const [project] = await client.call('listProjects');
  const { id: projectId = '', organizationId = '' } = project ?? {};
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const name = `${names} ${n}`;
    const arrived = receiver.arrival(name);
    const began = performance.now();
    const repository = 'https://git.example.com/network.git';
    const body = { name, organizationId, projectId, repository, type: 'opentofu' } as const;
    await client.call('createEnvironmentWithoutTemplate', { body });
    await arrived;
    times.push(performance.now() - began);
  }
  return times;
}

export const notificationsBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const waiting = 10_000;
  const rounds = isQuick ? 20 : 200;
  await using receiver = await openReceiver();
  await using folder = await scratchFolder();
  const settings = {
    ENVARIUM_BUILT_IN_AGENT: 'false',
    ENVARIUM_RATE_LIMIT: '0',
    ENVARIUM_NOTIFICATION_NETWORKS: '127.0.0.1',
    ENVARIUM_NOTIFICATION_HTTP_HOSTS: '127.0.0.1',
  };
  await using service = await startService(folder, { settings });
  await using database = await connectTo(service);
  await assign(service, 'quick', `${receiver.address}/quick`);
  await measure(service, receiver, 5, 'first');
  const alone = await measure(service, receiver, rounds, 'alone');
  const slow = await assign(service, 'slow', `${receiver.address}/slow`);
  await measure(service, receiver, 1, 'slow');
  await database.pool.query(
    `insert into notification_delivery (id, event_id, endpoint_id, organization_id, project_id, environment_id,
       event_name, facts, status, created_at, due_at, give_up_at)
     select uuidv7(), event_id, endpoint_id, organization_id, project_id, environment_id, event_name, facts,
       'waiting', now(), now(), now() + interval '1 day'
     from notification_delivery, generate_series(1, ${waiting}) where endpoint_id = $1`,
    [slow],
  );
  // The next notice finds them.
  await measure(service, receiver, 1, 'woken');
  while (receiver.held() === 0) await delay(10);
  const duringLoad = await measure(service, receiver, rounds, 'meanwhile');
  return {
    figures: [
      figure('from a request to its webhook, nothing else waits', 'ms', alone),
      figure(`from a request to its webhook, ${waiting} others wait for a slow endpoint`, 'ms', duringLoad),
    ],
    settings: {
      waiting,
      'each is held for (ms)': holdMilliseconds,
      rounds,
      'held at the end': receiver.held(),
    },
  };
};
