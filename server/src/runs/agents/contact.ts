/** Meaning of an agent's silence. Pure. */

import type { Context } from '../../framework/context.ts';
import type { ServerSettings } from '../../ground/config/config.ts';

type SilenceSettings = Pick<ServerSettings, 'heartbeatSeconds' | 'offlineGraceSeconds' | 'abortSeconds'>;

const leastSilenceSeconds = 20;

/**
 * After this time without contact, an agent is shown as unreachable, and its unstarted runs go elsewhere: three
 * heartbeats must have been lost.
 */
export function unreachableAfterSeconds({
  heartbeatSeconds,
}: Pick<SilenceSettings, 'heartbeatSeconds'>): number {
  return Math.max(leastSilenceSeconds, 3 * heartbeatSeconds + 5);
}

/** Agents whose last contact was before this time count as unreachable. */
export function reachableSince({ now, settings }: Pick<Context, 'now' | 'settings'>): Date {
  return new Date(now().getTime() - unreachableAfterSeconds(settings) * 1000);
}

/** The time that a run with a start mark has to bring its outcome after the last contact. */
export function giveUpAfterSeconds(settings: SilenceSettings): number {
  const { offlineGraceSeconds, abortSeconds } = settings;
  return Math.max(unreachableAfterSeconds(settings), offlineGraceSeconds + abortSeconds) + 60;
}

export interface SilenceFacts {
  readonly now: Date;
  readonly contactAt: Date;
  /** The start of the unbroken series of stamps in the database: silence before it does not count. */
  readonly stampedSince: Date;
  readonly hasMark: boolean;
  readonly unreachableSeconds: number;
  readonly giveUpSeconds: number;
}

/**
 * @returns `again`: the attempt is lost and had changed nothing; `give-up`: the wait is over; `wait`
 * otherwise
 */
export function judgeSilence(facts: SilenceFacts): 'wait' | 'again' | 'give-up' {
  const since = Math.max(facts.contactAt.getTime(), facts.stampedSince.getTime());
  const seconds = (facts.now.getTime() - since) / 1000;
  if (facts.hasMark) return seconds > facts.giveUpSeconds ? 'give-up' : 'wait';
  return seconds > facts.unreachableSeconds ? 'again' : 'wait';
}
