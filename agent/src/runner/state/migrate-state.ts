/**
 * The move of a state into ours, in the first run of an environment that asks for it while the backend of the
 * code keeps the state: that one is read and left as it was. A run that ends after its plan uses it without
 * keeping it.
 */
import { join } from 'node:path';
import { sha256 } from '#protocol/approved.ts';
import { planOnlyTypes } from '#protocol/tools/steps.ts';
import {
  type KeptElsewhere,
  type StateCapability,
  type StateReading,
  TornState,
} from '../../drivers/driver.ts';
import { writeDurably } from '../../spool/write-file.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { say, warn } from '../../attempt/attempt-log.ts';
import {
  type ConfigurationFacts,
  describeConfiguration,
  stateFileOf,
  writeDriverFiles,
} from '../phases/configuration.ts';
import { RunFailure } from '../../processes/failure.ts';
import { type Captures, runOne } from '../run-commands.ts';
import type { RunnerAttempt } from '../runner-attempt.ts';

interface Found {
  readonly state: StateCapability;
  readonly kept: KeptElsewhere;
}

/** @throws RunFailure where the code would leave a state of ours behind unseen */
export function refuseToLeaveState({ job }: Pick<AttemptContext, 'job'>, isStateOurs: boolean): void {
  if (isStateOurs || job.state.current === undefined) return;
  const { serial, stateVersionId } = job.state.current;
  throw new RunFailure(
    `The code names a backend of its own, but the service keeps the state of this environment (version ${stateVersionId}, serial ${serial}): a run would lose sight of it. Set isRemoteBackend to true to continue with it. To give it to the backend, download it, put it there with "state push", then clear the state of the environment`,
  );
}

/** Takes the state of the code's backend over where we have none yet; called before the override goes in. */
export async function migrateState(
  attempt: RunnerAttempt,
  step: string,
  facts: ConfigurationFacts,
): Promise<void> {
  const { job, driver } = attempt;
  const { state } = driver;
  if (state === undefined || !facts.isStateOurs || job.state.current !== undefined) return;
  const own = describeConfiguration(attempt, { ...facts, isStateOurs: false });
  const kept = await state.elsewhere(own.context);
  if (kept === null) return;
  const found = await readElsewhere(attempt, step, { state, kept, own }).catch((error: unknown) =>
    Promise.reject(explained(error, kept)),
  );
  if (found !== null) await keep(attempt, step, { state, kept, bytes: found });
}

// The backend may be of the network, so that a bad end here says nothing of the code.
function explained(error: unknown, kept: KeptElsewhere): unknown {
  if (!(error instanceof RunFailure) || error.facts.result !== 'failed') return error;
  const text = `This environment's state is to be ours, but it could not be read from the backend ${kept.name} of the code, and nothing was changed: ${error.message}`;
  return new RunFailure(text, error.facts);
}

async function readElsewhere(
  attempt: RunnerAttempt,
  step: string,
  { state, kept, own }: Found & { own: ReturnType<typeof describeConfiguration> },
): Promise<Uint8Array | null> {
  say(
    attempt,
    step,
    `This environment's state is to be ours from now on; the backend ${kept.name} of the code must provide it.`,
  );
  const configuration = { ...own, secretFiles: await writeDriverFiles(attempt, own.context) };
  const captures: Captures = new Map();
  for (const command of kept.reach) await runOne(attempt, configuration, { ...command, step }, captures);
  const reading = kept.read(captures);
  if ('nothing' in reading) {
    warn(attempt, step, reading.nothing);
    return null;
  }
  await runOne(attempt, configuration, { ...reading, step }, captures);
  const bytes = captures.get(reading.captureTo ?? '');
  // Where there is none, a tool prints nothing, or a state that was never stored: without a lineage.
  if (bytes !== undefined && bytes.length > 0 && readingOf(state, kept, bytes).lineage !== '') return bytes;
  say(attempt, step, `The backend ${kept.name} of the code holds no state.`);
  return null;
}

function readingOf(state: StateCapability, kept: KeptElsewhere, bytes: Uint8Array): StateReading {
  try {
    return state.read(bytes);
  } catch (error) {
    const what = error instanceof TornState ? 'is not complete' : (error as Error).message;
    throw new RunFailure(
      `The state that the backend ${kept.name} of the code gave cannot be used, and nothing was changed: ${what}`,
    );
  }
}

async function keep(
  attempt: AttemptContext,
  step: string,
  { state, kept, bytes }: Found & { bytes: Uint8Array },
): Promise<void> {
  const { folders, job, spool, tree } = attempt;
  const { serial, lineage, resourceCount } = readingOf(state, kept, bytes);
  await tree.write(folders.state, stateFileOf(attempt, state), bytes);
  const isKept = !planOnlyTypes.includes(job.type);
  if (isKept) await writeDurably(join(spool.states, '1.tfstate'), bytes);
  const what = `serial ${serial}, lineage ${lineage}, ${resourceCount} resources, SHA-256 ${sha256(bytes)}`;
  const becomes = isKept
    ? "It becomes the environment's first state version"
    : 'This run only looks at it; the next deployment takes it over';
  say(
    attempt,
    step,
    `State read from the backend ${kept.name} of the code: ${what}. ${becomes}. The state in the backend is unchanged and no longer used.`,
  );
}
