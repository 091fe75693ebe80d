/** Environments that are deployed after another one. */
import type { Command } from 'commander';
import type { DownstreamEnvironment } from '#contract/triggers/shapes.ts';
import { onCall } from '../../call/command-line.ts';
import { findEnvironment } from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { timeText } from '../../terminal/durations.ts';
import { plain } from '../../terminal/safe-text.ts';

interface DownstreamFlags {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
  readonly only?: readonly string[];
  readonly none?: boolean;
}

/** The result of the last deployment upstream, in words. */
function lastText({ lastTrigger: last }: DownstreamEnvironment): string {
  if (!last) return 'nothing yet';
  const what = last.deploymentId ? `deployment ${last.deploymentId}` : `skipped: ${plain(last.reason ?? '')}`;
  return `${timeText(last.at)}  ${what}`;
}

const columns = [
  { head: 'ID', value: ({ id }: DownstreamEnvironment) => id, isWhole: true },
  { head: 'NAME', value: ({ name }: DownstreamEnvironment) => name },
  { head: 'STATUS', value: ({ status }: DownstreamEnvironment) => status ?? '' },
  { head: 'LAST', value: lastText },
];

async function idsOf(session: CommandSession, names: readonly string[]): Promise<string[]> {
  const found = await Promise.all(names.map((name) => findEnvironment(session, name)));
  return found.map(({ id }) => id);
}

/** @throws BadCall for flags that contradict each other */
async function change(
  session: CommandSession,
  id: string,
  { add, remove, only, none }: DownstreamFlags,
): Promise<void> {
  const { client } = session;
  const flags = [add, remove, only, none].filter((flag) => flag !== undefined);
  if (flags.length > 1) throw new BadCall('Of --add, --remove, --only and --none, use one at a time.');
  const params = { id };
  const body = async (names: readonly string[]) => ({
    downstreamEnvironmentIds: await idsOf(session, names),
  });
  if (add) await client.call('addDownstream', { params, body: await body(add) });
  if (remove) await client.call('removeDownstream', { params, body: await body(remove) });
  if (only ?? none) await client.call('setDownstream', { params, body: await body(only ?? []) });
}

/** Adds `downstream` of an environment. */
export function addDownstreamCommand(group: Command): void {
  const downstream = group
    .command('downstream <environment>')
    .description('show or change which environments are deployed after each successful deploy of it')
    .option('--add <environment...>', 'deploy these after it, too')
    .option('--remove <environment...>', 'stop deploying these after it')
    .option('--only <environment...>', 'deploy these after it, and no others')
    .option('--none', 'deploy nothing after it');
  onCall<DownstreamFlags>(downstream, async ({ session, args: [name = ''], options }) => {
    const { client } = session;
    const { id } = await findEnvironment(session, name);
    await change(session, id, options);
    const now = await client.call('listDownstream', { params: { id } });
    return session.list(now, columns, 'Nothing is deployed after it.');
  });
}
