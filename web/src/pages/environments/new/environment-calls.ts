/** The command and the call that create the same environment. Values of sensitive variables are left out. */
import type { VariableChange } from '#contract/variables/shapes.ts';
import { asCommand, asCurl, type ShownCall } from '../../../ui/calls.ts';
import { type Draft, repositoryBody, templateBody } from './draft.ts';
import { commandWords } from './environment-words.ts';

/** Both forms of the same request. @param type of the tool */
export function environmentCall(
  draft: Draft,
  type: string,
  organizationId: string,
  changes: readonly VariableChange[],
): ShownCall {
  const shown = changes.map((change) => (change.isSensitive ? { ...change, value: '…' } : change));
  return {
    label: 'Create this environment',
    cli: asCommand(...commandWords(draft, type, changes)),
    curl:
      draft.from === 'template'
        ? asCurl('createEnvironment', { body: templateBody(draft, type, shown) })
        : asCurl('createEnvironmentWithoutTemplate', { body: repositoryBody(draft, organizationId, shown) }),
  };
}
