/** Asks before a page or a tab is left whose changes are not saved. */
import { useBlocker } from '@tanstack/react-router';

/**
 * Asks as long as there is something to lose. Other parts of the address may change without a question: a filter,
 * a dialog.
 * @param question undefined: nothing is lost by leaving
 * @param isSaved for forms that lead to another page once they are saved: then there is no question
 */
export function useQuestionBeforeLeaving(
  question: string | undefined,
  isSaved?: { readonly current: boolean },
): void {
  useBlocker({
    shouldBlockFn: ({ current, next }) => {
      const tabOf = ({ search }: { readonly search: object }) => ('tab' in search ? search.tab : undefined);
      const isLeft = current.pathname !== next.pathname || tabOf(current) !== tabOf(next);
      return isLeft && isSaved?.current !== true && !window.confirm(question);
    },
    disabled: question === undefined,
    enableBeforeUnload: question !== undefined,
  });
}
