/**
 * Imports a state from the backend of the code, in the first run of an environment that has the service store
 * its state. The state in the backend is not changed. A run without an apply uses the state without storing
 * it.
 */
import { join } from 'node:path';
import { sha256 } from '#protocol/approved.ts';
import { planOnlyTypes } from '#protocol/tools/steps.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import {
  type StateCapability,
  type StateFileCapability,
  type StateReading,
  TornState,
} from '../../drivers/interface/driver.ts';
import type { KeptElsewhere } from '../../drivers/interface/state-places.ts';
import { RunFailure } from '../../processes/failure.ts';
import { writeDurably } from '../../spool/write-file.ts';
import type { Captures } from '../commands/command-files.ts';
import { runOne } from '../commands/run-commands.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import {
  type ConfigurationFacts,
  describeConfiguration,
  stateFilesOf,
  writeDriverFiles,
} from '../configuration/configuration.ts';

/** A state that the backend of the code stores. */
interface BackendState {
  readonly state: StateCapability;
  readonly file: StateFileCapability;
  readonly kept: KeptElsewhere;
}

/** @throws RunFailure if the code has its own backend although the service stores a state */
export function refuseToLeaveState({ job }: Pick<AttemptContext, 'job'>, isStateOurs: boolean): void {
  if (isStateOurs || job.state.current === undefined) return;
  const { serial, stateVersionId } = job.state.current;
  throw new RunFailure(
    `The code has its own backend, but the service stores the state of this environment (version ${stateVersionId}, serial ${serial}), which a run would not use. Set isRemoteBackend to true to continue with it. To move it to the backend, download it, upload it there with "state push", then clear the state of the environment`,
  );
}

/**
 * Imports the state from the code's backend if the service has none; called before the backend is overridden.
 */
export async function migrateState(
  attempt: RunnerAttempt,
  step: string,
  facts: ConfigurationFacts,
): Promise<void> {
  const { job, driver } = attempt;
  const { state } = driver;
  if (state === undefined || !facts.isStateOurs || job.state.current !== undefined) return;
  const own = describeConfiguration(attempt, { ...facts, isStateOurs: false });
  const { file } = state;
  const kept = await file?.elsewhere(own.context);
  if (file === undefined || !kept) return;
  const bytes = await readFromBackend(attempt, step, { state, file, kept, own }).catch((error: unknown) =>
    Promise.reject(explained(error, kept)),
  );
  if (bytes !== null) await importState(attempt, step, { state, file, kept, bytes });
}

// The backend may be unreachable, so a failure here says nothing about the code.
function explained(error: unknown, kept: KeptElsewhere): unknown {
  if (!(error instanceof RunFailure) || error.facts.result !== 'failed') return error;
  const text = `The service is to store this environment's state, but it could not be read from the backend ${kept.name} of the code, and nothing was changed: ${error.message}`;
  return new RunFailure(text, error.facts);
}

async function readFromBackend(
  attempt: RunnerAttempt,
  step: string,
  { state, kept, own }: BackendState & { own: ReturnType<typeof describeConfiguration> },
): Promise<Uint8Array | null> {
  attempt.steps.log(
    step,
    `The service stores this environment's state from now on; reading it from the backend ${kept.name} of the code.`,
  );
  const configuration = { ...own, written: await writeDriverFiles(attempt, own.context) };
  const captures: Captures = new Map();
  for (const command of kept.reach) await runOne(attempt, configuration, { ...command, step }, captures);
  const reading = kept.read(captures);
  if ('nothing' in reading) {
    attempt.steps.warn(step, reading.nothing);
    return null;
  }
  await runOne(attempt, configuration, { ...reading, step }, captures);
  const bytes = captures.get(reading.captureTo ?? '');
  // If there is none, a tool prints nothing, or a state that was never stored and therefore has no lineage.
  if (bytes !== undefined && bytes.length > 0 && readingOf(state, kept, bytes).lineage !== '') return bytes;
  attempt.steps.log(step, `The backend ${kept.name} of the code contains no state.`);
  return null;
}

function readingOf(state: StateCapability, kept: KeptElsewhere, bytes: Uint8Array): StateReading {
  try {
    return state.read(bytes);
  } catch (error) {
    const what = error instanceof TornState ? 'is not complete' : (error as Error).message;
    throw new RunFailure(
      `The state from the backend ${kept.name} of the code cannot be used, and nothing was changed: ${what}`,
    );
  }
}

async function importState(
  attempt: AttemptContext,
  step: string,
  { state, file, kept, bytes }: BackendState & { bytes: Uint8Array },
): Promise<void> {
  const { folders, job, spool, tree } = attempt;
  const { serial, lineage, resourceCount } = readingOf(state, kept, bytes);
  await tree.write(folders.state, stateFilesOf(attempt, file).name, bytes);
  const isKept = !planOnlyTypes.includes(job.type);
  if (isKept) await writeDurably(join(spool.states, '1.tfstate'), bytes);
  const what = `serial ${serial}, lineage ${lineage}, ${resourceCount} resources, SHA-256 ${sha256(bytes)}`;
  const becomes = isKept
    ? "It becomes the environment's first state version"
    : 'This run only reads it; the next deployment imports it';
  attempt.steps.log(
    step,
    `State read from the backend ${kept.name} of the code: ${what}. ${becomes}. The state in the backend is unchanged and no longer used.`,
  );
}
