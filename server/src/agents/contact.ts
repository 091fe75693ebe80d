/** What the silence of an agent means. Pure. */
import type { ServerSettings } from '../config.ts';

/** After this time without contact, an agent is shown as unreachable, and its unstarted runs go elsewhere. */
export const unreachableAfterSeconds = 20;

/** Whether an agent counts as unreachable. */
export function isUnreachable(contactAt: Date, now: Date): boolean {
  return now.getTime() - contactAt.getTime() > unreachableAfterSeconds * 1000;
}

/** The time that a run with a start mark has to bring its outcome after the last contact. */
export function giveUpAfterSeconds(
  settings: Pick<ServerSettings, 'offlineGraceSeconds' | 'abortSeconds'>,
): number {
  return settings.offlineGraceSeconds + settings.abortSeconds + 60;
}

export interface SilenceFacts {
  readonly now: Date;
  readonly contactAt: Date;
  /** The start of the unbroken series of stamps in the database: silence before it does not count. */
  readonly stampedSince: Date;
  readonly hasMark: boolean;
  readonly giveUpSeconds: number;
}

/**
 * @returns `again`: the attempt is lost and had changed nothing; `give-up`: nobody waits any longer; `wait`
 * otherwise
 */
export function judgeSilence(facts: SilenceFacts): 'wait' | 'again' | 'give-up' {
  const since = Math.max(facts.contactAt.getTime(), facts.stampedSince.getTime());
  const seconds = (facts.now.getTime() - since) / 1000;
  if (facts.hasMark) return seconds > facts.giveUpSeconds ? 'give-up' : 'wait';
  return seconds > unreachableAfterSeconds ? 'again' : 'wait';
}
