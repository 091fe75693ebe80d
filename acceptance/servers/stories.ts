/** Deployments that wait at a gate in the middle of their apply, and what must be true of them afterwards. */
import assert from 'node:assert/strict';
import type { Client } from '#contract/client/client.ts';
import { follow } from '../follow.ts';
import { leaveMark, type Marks } from '../marks.ts';
import { withConnection, withoutPostgreSQL } from '../postgresql.ts';
import { withoutTerraform } from '../programs.ts';
import { type Created, createEnvironment, type Home, until, untilEnd } from '../runs.ts';
import { makeRepository } from '../service.ts';

/** Why the stories are left out; false where they are not. */
export const skip = withoutTerraform || withoutPostgreSQL();

const lineCount = 300;

const configuration = (place: string) => `resource "terraform_data" "it" {
  provisioner "local-exec" {
    command = "${leaveMark(place, 'begin')}; for i in $(seq 1 ${lineCount}); do echo line $i of the run; done; ${leaveMark(place, 'end')}"
  }
}
`;

/** One deployment, and the bytes that its followers have received of its logs. */
export interface Story extends Created {
  readonly name: string;
  readonly followers: readonly Promise<string>[];
}

/** Creates environments whose deployments wait at their gate, each followed by all followers. */
export async function startStories(
  names: readonly string[],
  setup: {
    readonly folder: string;
    readonly marks: Marks;
    readonly home: Home;
    readonly clients: readonly Client[];
    readonly followers?: readonly Client[];
  },
): Promise<Story[]> {
  const { folder, marks, home, clients, followers = [] } = setup;
  const stories = await Promise.all(
    names.map(async (name, index): Promise<Story> => {
      const { path } = await makeRepository(folder, name, {
        'main.tf': configuration(marks.addressOf(name)),
      });
      const client = clients[index % clients.length] as Client;
      const created = await createEnvironment(client, home, { name, repository: path });
      return {
        ...created,
        name,
        followers: followers.map((follower) => followedLog(follower, created.deploymentId)),
      };
    }),
  );
  for (const name of names) await until(`the apply of ${name}`, () => marks.of(name).includes('begin'));
  return stories;
}

/** All of a deployment's logs, in the order of their steps. @throws Error where a byte is missing or comes twice */
async function followedLog(client: Client, id: string): Promise<string> {
  const { logs } = await follow(client, id, { signal: AbortSignal.timeout(120_000) });
  return [...logs.values()].map(String).join('');
}

/** Waits until the stories have succeeded: each once, with all of its log for each follower. */
export async function endStories(
  stories: readonly Story[],
  { client, marks, database }: { readonly client: Client; readonly marks: Marks; readonly database: string },
): Promise<void> {
  for (const { name, deploymentId, followers } of stories) {
    const deployment = await untilEnd(client, deploymentId);
    assert.equal(deployment.resourceCount, 1);
    assert.deepEqual(marks.of(name), ['begin', 'end'], `${name} was applied once`);
    const logs = await Promise.all([...followers, followedLog(client, deploymentId)]);
    for (const log of logs) {
      const lines = log.match(/line \d+ of the run$/gm) ?? [];
      assert.deepEqual([lines.length, new Set(lines).size], [lineCount, lineCount], name);
      assert.equal(log, logs[0], `all followers of ${name} have received the same`);
    }
  }
  const ids = stories.map(({ deploymentId }) => deploymentId);
  const { rows } = await withConnection(database, (connection) =>
    connection.query<{ started: number; states: number }>(
      `select (select count(*)::int from audit_event where action = 'deployment.started' and entity_id = any ($1)) as started,
              (select count(*)::int from deployment_event where name = 'end' and deployment_id::text = any ($1)) as states`,
      [ids],
    ),
  );
  assert.deepEqual(rows, [{ started: ids.length, states: ids.length }]);
}
