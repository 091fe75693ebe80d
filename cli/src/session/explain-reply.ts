/** Explains a command that failed in a reply whose form is not that of the contract. */
import { ApiError } from '#contract/client/client.ts';
import type { OperationName } from '#contract/operations.ts';

/** The operations that were called, each once, the latest last. */
export type CalledOperations = ReadonlySet<OperationName>;

/**
 * The schemas of the contract would tell the difference, but they are half as large as this program.
 * @param error what ended the command
 * @returns an error that names the operation if the command failed while it read a reply; otherwise the same error
 */
export function explainReply(error: unknown, called: CalledOperations): unknown {
  const last = [...called].at(-1);
  if (!(error instanceof TypeError) || last === undefined) return error;
  const message = `The reply to ${last} has another form than this program knows: ${error.message}.\nPerhaps the server is not Envarium, or has another version than this program ("envarium --version", "envarium doctor")`;
  return new ApiError(0, { code: 'unknown', message: `${message}.` }, { cause: error });
}
