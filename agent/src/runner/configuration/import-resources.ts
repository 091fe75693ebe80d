/**
 * Imports resources that an earlier run created without recording them: a file of the configuration declares
 * them before the plan, which then shows them.
 */
import { existsSync, readFileSync } from 'node:fs';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import type { DeclaredImports } from '../../drivers/interface/capabilities.ts';
import type { FileToWrite } from '../../drivers/interface/driver.ts';
import { RunFailure } from '../../processes/failure.ts';

type Importing = Pick<AttemptContext, 'job' | 'driver' | 'spool' | 'steps'>;

function declaredBy({ job, driver, spool }: Importing): DeclaredImports | null {
  if (job.imports === undefined || driver.imports === undefined) return null;
  const state = existsSync(spool.inputState) ? readFileSync(spool.inputState) : null;
  return driver.imports.declare(job.imports, state);
}

/** @throws RunFailure if the deployment is to import resources and this version of the tool cannot */
export function refuseImports({ job, driver }: Importing, toolVersion: string): void {
  if (job.imports === undefined) return;
  const refusal =
    driver.imports === undefined
      ? 'The tool of this environment cannot import resources'
      : driver.imports.refusal(toolVersion);
  if (refusal === null) return;
  throw new RunFailure(
    `${refusal}. Import them with the tool outside of runs, or deploy without importUnrecorded after removing them`,
  );
}

/** The files that declare the imports of this deployment, for the configuration's folder. */
export function importFiles(attempt: Importing): FileToWrite[] {
  const file = declaredBy(attempt)?.file;
  return file ? [{ ...file, isSecret: false }] : [];
}

/** Lists in a step's log what is imported, and what is not. */
export function logImports(attempt: Importing, step: string): void {
  const declared = declaredBy(attempt);
  if (declared === null) return;
  for (const { address, id } of declared.imported)
    attempt.steps.log(
      step,
      `Importing ${address} with ID ${JSON.stringify(id)}, which an earlier run created.`,
    );
  for (const { address, id, reason } of declared.skipped)
    attempt.steps.log(step, `Not importing ${address} with ID ${JSON.stringify(id)}: ${reason}.`);
}
