/** Mark of the search box on a page, whichever page it is. */
export const searchBoxMark = { 'data-list-search': true } as const;

/** Leads to the search of the list. @returns whether the page has one */
export function focusSearchBox(): boolean {
  const box = document.querySelector<HTMLInputElement>('input[data-list-search]');
  box?.focus();
  box?.select();
  return box !== null;
}
