/** Explains a command that failed in a reply whose form is not that of the contract. */
import { ApiError } from '#contract/client/client.ts';
import type { OperationName } from '#contract/operations.ts';
import { isRecord } from '#contract/schema/is-record.ts';
import { replyForms } from '#contract/schema/reply-forms.ts';

const forms: Readonly<Partial<Record<OperationName, string>>> = replyForms;

/**
 * Whether a reply can be one of this operation. The schemas of the contract would tell more, but they are half as large
 * as this program.
 */
export function hasForm(name: OperationName, reply: unknown): boolean {
  const form = forms[name];
  if (form === undefined) return true;
  return form === '[]' ? Array.isArray(reply) : isRecord(reply) && Object.hasOwn(reply, form);
}

/**
 * @param error what ended the command
 * @param malformed operations whose reply had another form, the latest last
 * @returns an error that names the operation if that is why the command failed; otherwise the same error
 */
export function explainReply(error: unknown, malformed: ReadonlySet<OperationName>): unknown {
  const last = [...malformed].at(-1);
  if (!(error instanceof TypeError) || last === undefined) return error;
  const message = `The reply to ${last} has an unexpected form: ${error.message}.\nPerhaps the server is not Envarium, or has another version than this program ("envarium --version", "envarium doctor")`;
  return new ApiError(0, { code: 'unknown', message: `${message}.` }, { cause: error });
}
