/** Follows a scan of environment discovery until it has ended, or waits for a person. */
import { setTimeout as delay } from 'node:timers/promises';
import type { DiscoveryScan } from '#contract/discovery/shapes.ts';
import { BadCall, type ExitCode } from '../../session/exit-codes.ts';
import { type CommandSession, tell } from '../../session/session.ts';
import { scanText, showResult } from './show-discovery.ts';

const pauseMilliseconds = 1000;

/**
 * Shows the progress of a scan on standard error, and then its result.
 * @param started as the service replied
 * @throws BadCall if newer scans have replaced it
 */
export async function followScan(
  session: CommandSession,
  projectId: string,
  started: DiscoveryScan,
): Promise<ExitCode> {
  const { client, isJson } = session;
  let scan = started;
  let shown = '';
  while (scan.status === 'RUNNING') {
    const text = scanText(scan);
    if (!isJson && text !== shown) tell(text);
    shown = text;
    await delay(pauseMilliseconds);
    const scans = await client.call('listDiscoveryScans', { params: { projectId } });
    const found = scans.find(({ id }) => id === started.id);
    if (found === undefined)
      throw new BadCall(`Newer scans have replaced ${started.id}: "envarium discovery scans" lists them.`);
    scan = found;
  }
  return showResult(session, scan, () => client.call('getDiscoveryState', { params: { projectId } }));
}
