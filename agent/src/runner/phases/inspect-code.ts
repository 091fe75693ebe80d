/** Runs the commands with which a driver looks at the code before it answers questions about it. */
import type { PhaseCaptures as ReadCaptures } from '../../drivers/interface/command.ts';
import type { Captures } from '../commands/command-files.ts';
import { runOne } from '../commands/run-commands.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import {
  asRunFailure,
  type ConfigurationFacts,
  describeConfiguration,
} from '../configuration/configuration.ts';

/**
 * Runs within a step that has started.
 * @returns what the commands have captured; empty for a driver that needs to see no more than the files
 * @throws RunFailure if one of them fails
 */
export async function inspectCode(
  attempt: RunnerAttempt,
  step: string,
  facts: Pick<ConfigurationFacts, 'tool' | 'commit'>,
): Promise<ReadCaptures> {
  const captures: Captures = new Map();
  const { inspect } = attempt.driver;
  if (inspect === undefined) return captures;
  const described = describeConfiguration(attempt, { ...facts, isStateOurs: false });
  const configuration = { ...described, written: { secret: [], sha256: '' } };
  for (const command of inspect.commands(described.context))
    await runOne(attempt, configuration, { ...command, step }, captures);
  const seen = { ...described.context, inspected: captures };
  for (const [name, found] of await asRunFailure(() => inspect.findings(seen))) captures.set(name, found);
  return captures;
}

/** What was captured, in a form that JSON has. */
export function writeCaptures(captures: ReadCaptures): Record<string, string> {
  return Object.fromEntries(
    [...captures].map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]),
  );
}

export function readCaptures(written: Readonly<Record<string, string>>): ReadCaptures {
  return new Map(Object.entries(written).map(([name, text]) => [name, Buffer.from(text, 'base64')]));
}
