/** Finds the program opa, which evaluates approval policies. */
import { findOnPath, isExecutable } from '#guards/find-on-path.ts';
import type { Context } from '../../../framework/context.ts';

const remedy = 'install opa on the machine of the service (https://www.openpolicyagent.org)';

/** @returns its path, or why there is none and what to do */
export function findOpa({
  opaProgram,
}: Pick<Context['settings'], 'opaProgram'>):
  | { readonly program: string; readonly problem?: undefined }
  | { readonly problem: string } {
  if (opaProgram !== undefined) {
    if (isExecutable(opaProgram)) return { program: opaProgram };
    return { problem: `ENVARIUM_OPA names ${opaProgram}, which this service cannot execute: ${remedy}` };
  }
  const program = findOnPath('opa');
  if (program !== null) return { program };
  return {
    problem: `Approval policies are evaluated by the program opa, which is not on the PATH: ${remedy}, or set ENVARIUM_OPA`,
  };
}
