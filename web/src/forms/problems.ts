/** Brings what is wrong with a long form before the eyes of the person who sent it. */
import { useEffect } from 'react';

/** Scrolls to an alert; used as its `ref`. */
export function intoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'center' });
}

/**
 * Puts the first wrong field of the page in focus.
 * @param problem another value for each refusal; nothing wrong: undefined, or an object without anything in it
 * @param part of the form that is shown now
 */
export function useWrongField(problem: object | undefined, part?: number): void {
  const isWrong = problem instanceof Error || Object.values(problem ?? {}).some(Boolean);
  useEffect(() => {
    if (isWrong) document.querySelector<HTMLElement>('main form [aria-invalid="true"]')?.focus();
  }, [problem, isWrong, part]);
}
