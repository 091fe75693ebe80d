/**
 * Transfers the tree from a plan to its apply as the plan phase left it, without `.git`, without files that
 * the tool installs again, and without files that contain secrets.
 */
import { closeSync, fsyncSync, openSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '#protocol/approved.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { type CommandEnd, runCommand, sizeOf } from '../../attempt/run-command.ts';
import { RunFailure } from '../../processes/failure.ts';
import { requireProgram, toolPath } from '../../processes/programs.ts';
import { limitSettings } from '../../processes/stop-watch.ts';
import { syncFolder, writeDurably } from '../../spool/write-file.ts';
import type { Configuration } from '../configuration/configuration.ts';

/**
 * Packs the tree into `outputs/tree.tar` and copies a saved plan to `outputs/plan`, both durably.
 * @param composed the saved plan, if no command has written it
 * @returns the SHA-256 of the saved plan; undefined if the tool saves none
 */
export async function packForApply(
  attempt: AttemptContext,
  configuration: Configuration,
  step: string,
  composed?: Uint8Array,
): Promise<string | undefined> {
  const { spool } = attempt;
  const hasPlan = attempt.driver.savedPlan !== undefined;
  if (hasPlan) await copyPlan(attempt, composed);
  await packTree(attempt, configuration, step);
  await syncFolder(spool.outputs);
  const total = sizeOf(spool.outputPlan) + sizeOf(spool.outputTree);
  if (total > attempt.job.limits.travelBytes) throw tooLarge(total, attempt.job.limits.travelBytes);
  return hasPlan ? sha256(readFileSync(spool.outputPlan)) : undefined;
}

// It is sealed: what is copied is what was shown.
async function copyPlan({ folders, spool }: AttemptContext, composed?: Uint8Array): Promise<void> {
  await writeDurably(spool.outputPlan, composed ?? (await readFile(folders.planFile)));
}

/** Restores a transferred tree. */
export async function unpackTree(attempt: AttemptContext, step: string): Promise<void> {
  await tar(
    attempt,
    step,
    ['--extract', '--file=-', '--no-same-owner', `--directory=${attempt.folders.tree}`],
    {
      inputFrom: attempt.spool.inputTree,
    },
  );
}

async function packTree(attempt: AttemptContext, configuration: Configuration, step: string): Promise<void> {
  const below = (name: string) => `./${join(attempt.path, name)}`;
  const { driver } = attempt;
  const installed = [...(driver.installed ?? []), ...(driver.installedIn?.(configuration.context) ?? [])];
  const left = [...installed, ...configuration.written.secret];
  const excludes = ['./.git', ...left.map(below)].map((name) => `--exclude=${name}`);
  const args = [
    '--create',
    '--file=-',
    '--format=pax',
    `--directory=${attempt.folders.tree}`,
    '--anchored',
    '--no-wildcards',
    ...excludes,
    '--',
    '.',
  ];
  await tar(attempt, step, args, { captureTo: attempt.spool.outputTree });
  const descriptor = openSync(attempt.spool.outputTree, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

async function tar(
  attempt: AttemptContext,
  step: string,
  args: string[],
  files: { captureTo?: string; inputFrom?: string },
): Promise<void> {
  const end = await runTar(attempt, step, args, files);
  // 1: a file changed or vanished while it was read; a run may cause that in its own tree.
  if (end.exitCode !== 0 && end.exitCode !== 1)
    throw new RunFailure(`the tree could not be transferred from plan to apply: ${end.output().trim()}`, {
      result: 'failed',
    });
}

/**
 * Runs tar with the rights of the run; what it complains about is not in the step's log.
 * @throws RunFailure if the run is stopped
 */
export async function runTar(
  attempt: AttemptContext,
  step: string,
  args: string[],
  files: { captureTo?: string; inputFrom?: string },
): Promise<CommandEnd> {
  const end = await runCommand(attempt, {
    step,
    label: 'tar',
    name: 'tar',
    program: requireProgram('tar'),
    args,
    cwd: attempt.folders.root,
    isDisposable: true,
    log: attempt.spool.scratchFile('tar-output'),
    environment: { PATH: toolPath, LANG: 'C.UTF-8' },
    ...files,
  });
  if (end.stop !== null) throw new RunFailure(end.stop.message, { result: end.stop.result });
  return end;
}

function tooLarge(bytes: number, limit: number): RunFailure {
  const megabytes = (size: number) => Math.ceil(size / (1024 * 1024));
  return new RunFailure(
    `the plan and the tree for its apply have ${megabytes(bytes)} MB, and at most ${megabytes(limit)} MB can be transferred: make the repository smaller, or raise ${limitSettings.travelBytes}`,
  );
}
