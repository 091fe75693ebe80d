/** The plan phase: clone, variables, init, workspace, plan; and what its apply will need. */
import { existsSync, readFileSync } from 'node:fs';
import { sha256, variablesHash } from '#protocol/approved.ts';
import type { ApprovedParts, Outcome } from '#protocol/messages.ts';
import { planOnlyTypes } from '#protocol/tools/steps.ts';
import { keepTree, placeFile, removeWorkFolder } from '../../slots/work-folder.ts';
import { type Attempt, inStep } from '../attempt.ts';
import { checkoutStep } from '../code/checkout-step.ts';
import {
  checkJob,
  type Configuration,
  describeConfiguration,
  codeConstraints,
  findStateOwner,
  stateFileOf,
  writeDriverFiles,
} from './configuration.ts';
import { RunFailure } from '../../processes/failure.ts';
import { refuseToLeaveState, takeStateOver } from '../state/move-state.ts';
import { resolveTool } from '../tool/resolve-tool.ts';
import { runCommands } from '../run-commands.ts';
import { packTravel } from '../code/travel.ts';
import { unpackSourceStep } from '../code/unpack-source.ts';

const setupStep = 'variables:setup';

/** How a phase ended, and what is done with its work folder when everything of it has stopped. */
export interface PhaseEnd {
  readonly result: Outcome['result'];
  settle(): void;
}

/** From nothing to a configuration that its tool can work on. @throws RunFailure when something says no */
export async function prepareConfiguration(attempt: Attempt): Promise<Configuration> {
  await (attempt.job.source.archive === undefined ? checkoutStep(attempt) : unpackSourceStep(attempt));
  const configuration = await setUp(attempt);
  const prepare = await attempt.driver.prepare(configuration.context);
  await runCommands(attempt, configuration, prepare, {
    afterLast: () => checkPrepared(attempt, configuration),
  });
  return configuration;
}

/** @throws RunFailure when something says no */
export async function planPhase(attempt: Attempt): Promise<PhaseEnd> {
  const configuration = await prepareConfiguration(attempt);
  await plan(attempt, configuration);
  return { result: 'planned', settle: () => settlePlan(attempt, configuration) };
}

// What its apply needs is packed while the tool still prints the plan.
async function plan(attempt: Attempt, configuration: Configuration): Promise<void> {
  const mayBeApplied = !planOnlyTypes.includes(attempt.job.type);
  const commands = attempt.driver.plan(configuration.context);
  let kept: Promise<ApprovedParts> | undefined;
  try {
    await runCommands(attempt, configuration, commands, {
      onSettled: () => {
        if (mayBeApplied) kept = keepForApply(attempt, configuration, commands.at(-1)?.step ?? setupStep);
        kept?.catch(() => undefined);
      },
      afterLast: async (captures) => {
        Object.assign(attempt.facts, await attempt.driver.readPlan(configuration.context, captures));
        attempt.facts.approvedParts = await kept;
      },
    });
  } finally {
    await Promise.allSettled([kept]);
  }
}

/** Puts the current state where the tool will look for it, before any process of the slot has started. */
export function placeState(attempt: Attempt): void {
  const { job, spool, folders, order } = attempt;
  if (job.state.current === undefined) return;
  if (!existsSync(spool.inputState))
    throw new RunFailure("the current state is missing in the attempt's folder", { result: 'internal' });
  if (sha256(readFileSync(spool.inputState)) !== job.state.current.sha256) {
    throw new RunFailure(
      "the state in the attempt's folder is not the current version: its checksum differs",
      { result: 'internal' },
    );
  }
  placeFile(folders.state, stateFileOf(attempt), spool.inputState, order.slotUid);
}

/** What init made of the place of the state. */
export async function checkPrepared(attempt: Attempt, configuration: Configuration): Promise<void> {
  const problem = await attempt.driver.checkPrepared(configuration.context);
  if (problem !== null) throw new RunFailure(problem);
}

/** The bytes of the lock file, null where there is none. */
export async function readLockFile(
  attempt: Attempt,
  configuration: Pick<Configuration, 'context'>,
): Promise<Uint8Array | null> {
  const { lockFile } = attempt.driver;
  return lockFile === null
    ? null
    : attempt.tree.read(configuration.context.configurationFolder, lockFile, 10_000_000);
}

async function setUp(attempt: Attempt): Promise<Configuration> {
  return inStep(attempt, setupStep, async () => {
    const commit = attempt.facts.commit ?? '';
    await checkJob(attempt, setupStep, commit);
    const toolVersion = await resolveTool(attempt, setupStep, { required: () => codeConstraints(attempt) });
    attempt.facts.toolVersion = toolVersion;
    const isStateOurs = await findStateOwner(attempt, commit);
    attempt.facts.isStateOurs = isStateOurs;
    const facts = { toolVersion, commit, isStateOurs };
    refuseToLeaveState(attempt, facts);
    await takeStateOver(attempt, setupStep, facts);
    const described = describeConfiguration(attempt, facts);
    return { ...described, secretFiles: await writeDriverFiles(attempt, described.context) };
  });
}

async function keepForApply(
  attempt: Attempt,
  configuration: Configuration,
  step: string,
): Promise<ApprovedParts> {
  const [lockFile] = await Promise.all([
    readLockFile(attempt, configuration),
    packTravel(attempt, configuration, step),
  ]);
  return {
    planFile: sha256(readFileSync(attempt.spool.outputPlan)),
    commit: attempt.facts.commit ?? '',
    toolVersion: configuration.toolVersion,
    lockFile: sha256(lockFile ?? ''),
    variables: variablesHash(attempt.job.variables),
  };
}

function settlePlan(attempt: Attempt, configuration: Configuration): void {
  const { approvedParts } = attempt.facts;
  if (approvedParts === undefined) return removeWorkFolder(attempt.folders);
  const { jobId, attempt: number, fence } = attempt.job;
  const facts = {
    isStateOurs: configuration.context.stateFolder !== null,
    lockFile: approvedParts.lockFile,
    toolVersion: approvedParts.toolVersion,
  };
  keepTree(attempt.folders, { jobId, attempt: number, fence }, attempt.order.slotUid, facts);
}
