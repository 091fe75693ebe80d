/** The apply phase: applies the approved plan in the tree that it was made in, and stores the resulting state. */
import { type RunnableTool, tools } from '#protocol/tools/index.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { RunFailure } from '../../processes/failure.ts';
import { readKept, type TreeFacts } from '../../slots/work-folder.ts';
import { removeOwnWorkFolder } from '../../slots/work-folder-owner.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { ApplyWork } from './apply-work.ts';
import { outputStep } from './output-step.ts';
import type { PhaseEnd } from './phase-end.ts';
import { continueKept, restoreConfiguration } from './restore-configuration.ts';
import { withRetryCount } from './run-with-retries.ts';
import { storeState } from './store-state.ts';

/** The tree that the plan phase of this deployment kept for this slot; null if there is none. */
export function keptTree(attempt: Pick<AttemptContext, 'job' | 'folders' | 'order'>): TreeFacts | null {
  const continues = attempt.job.approved?.continues;
  return continues === undefined ? null : readKept(attempt.folders, continues, attempt.order.slotUid);
}

/**
 * @param keptTree facts about the kept tree; null: the tree has to be restored
 * @throws RunFailure if the plan cannot be applied
 */
export async function applyPhase(attempt: RunnerAttempt, keptTree: TreeFacts | null): Promise<PhaseEnd> {
  const approved = attempt.job.approved;
  if (approved === undefined)
    throw new RunFailure('the job of the apply contains no approved plan', { result: 'internal' });
  const { commit } = approved.parts;
  attempt.facts.add({ commit });
  const isReady = keptTree !== null && attempt.driver.savedPlan?.isTreeReady === true;
  const configuration = await (isReady
    ? continueKept(attempt, approved, keptTree)
    : restoreConfiguration(attempt, approved, keptTree));
  const { tool, context } = configuration;
  attempt.facts.add({ toolVersion: tool.version, isStateOurs: context.stateFolder !== null });
  await applyCommands(attempt, configuration);
  return { result: 'applied', endWorkFolder: () => removeOwnWorkFolder(attempt.folders, attempt.job) };
}

async function applyCommands(attempt: RunnerAttempt, configuration: Configuration): Promise<void> {
  const { driver, job } = attempt;
  const { outputs } = tools[driver.type as RunnableTool].steps;
  const commands = driver.apply(configuration.context);
  const reading = commands.filter(({ step }) => step === outputs);
  const work = new ApplyWork(attempt, configuration);
  await work.run(commands.filter((command) => !reading.includes(command)));
  await withRetryCount(work.retryCount, async () => {
    const read = job.type === 'destroy' ? {} : await outputStep(attempt, configuration, reading, work);
    storeState(attempt, configuration, work.state);
    attempt.facts.add(read);
  });
}
