/** The table of forms in `contract/src/schema/reply-forms.ts`, for programs that load no schemas. */
import type { TSchema } from 'typebox';
import { operations } from '../operations.ts';

/** `[]` of a list, of an object the name of its first required field; undefined: it has no such mark. */
function formOf(reply: TSchema & { readonly type?: unknown; readonly required?: readonly string[] }) {
  if (reply.type === 'array') return '[]';
  return reply.type === 'object' ? reply.required?.[0] : undefined;
}

/** contract/src/schema/reply-forms.ts */
export function replyFormsFile(): string {
  const lines = Object.values(operations).flatMap(({ name, reply, replyKind }) => {
    const form = reply === undefined || replyKind !== undefined ? undefined : formOf(reply);
    return form === undefined ? [] : [`  ${name}: '${form}',`];
  });
  return `/**
 * Marks by which the reply of each operation is recognized: \`[]\` is a list, anything else a field that it has.
 * Operations whose replies have no such mark are left out. Generated from them by \`npm run generate\`.
 */
export const replyForms = {
${lines.join('\n')}
} as const;
`;
}
