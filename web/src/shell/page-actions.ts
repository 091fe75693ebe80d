/** What can be done on the page that is open: its buttons and tabs, as the command palette offers them. */

export interface PageAction {
  readonly label: string;
  readonly run: () => void;
}

const selector = ['main header button', 'main header a[href]', 'main [role="tab"]'].join(',');

function nameOf(element: HTMLElement): string {
  return (element.getAttribute('aria-label') ?? element.textContent).trim();
}

function canBeUsed(element: HTMLElement): boolean {
  return (
    element.getAttribute('aria-disabled') !== 'true' &&
    !element.hasAttribute('disabled') &&
    element.getAttribute('aria-selected') !== 'true' &&
    element.closest('nav') === null &&
    element.checkVisibility()
  );
}

/** What the page offers now: each thing once. */
export function pageActions(): PageAction[] {
  const found = [...document.querySelectorAll<HTMLElement>(selector)].filter(canBeUsed);
  const byName = new Map(found.map((element) => [nameOf(element), element]));
  byName.delete('');
  return [...byName].map(([label, element]) => ({
    label,
    run: () => {
      element.focus();
      element.click();
    },
  }));
}
