/** Explains a command that failed in a reply whose form is not that of the contract. */
import { ApiError } from '#contract/client/client.ts';
import type { Operation } from '#contract/operation.ts';
import type { OperationName } from '#contract/operations.ts';

/** The last reply to each operation, in the order in which they were first called. */
export type LastReplies = ReadonlyMap<OperationName, unknown>;

/** What differs first; null: nothing does. Fields may be missing where the request can leave some out. */
async function differenceIn(operation: Operation, reply: unknown): Promise<string | null> {
  const { default: Value } = await import('typebox/value');
  // Numbers with all their digits are objects until they are written.
  const plain: unknown = JSON.parse(JSON.stringify(reply));
  const errors = Value.Errors(operation.reply, plain);
  const found = errors.find(({ keyword }) => keyword !== 'required' || !operation.projectedBy);
  return found ? `${found.instancePath || 'the reply'} ${found.message}` : null;
}

/**
 * Loads the contract's schemas, which no command does that succeeds: they would double its start.
 * @param error what ended the command
 * @returns an error that names the operation if a reply has another form; otherwise the same error
 */
export async function explainReply(error: unknown, replies: LastReplies): Promise<unknown> {
  if (!(error instanceof TypeError)) return error;
  const { operations } = await import('#contract/operations.ts');
  for (const [name, reply] of [...replies].toReversed()) {
    const difference = await differenceIn(operations[name], reply);
    if (difference === null) continue;
    const message = `The reply to ${name} has another form than this program knows: ${difference}.\nPerhaps the server is not Envarium, or has another version than this program ("envarium --version", "envarium doctor")`;
    return new ApiError(0, { code: 'unknown', message: `${message}.` }, { cause: error });
  }
  return error;
}
