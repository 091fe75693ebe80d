/** Actions on the open page: its buttons and tabs, as the command palette offers them. */
import { useEffect, useState } from 'react';

export interface PageAction {
  readonly label: string;
  readonly run: () => void;
}

const selector = ['main header button', 'main header a[href]', 'main [role="tab"]'].join(',');
/** Attributes that decide whether one of them can be used. */
const attributes = ['aria-disabled', 'aria-label', 'aria-selected', 'disabled', 'href'];
/** A page that is being read changes often. */
const pauseMilliseconds = 100;

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

/** Actions that the page offers now: each once. */
function elementsByName(): ReadonlyMap<string, HTMLElement> {
  const found = [...document.querySelectorAll<HTMLElement>(selector)].filter(canBeUsed);
  const byName = new Map(found.map((element) => [nameOf(element), element]));
  byName.delete('');
  return byName;
}

function namesNow(): readonly string[] {
  return [...elementsByName().keys()];
}

/** Runs the action of a name on the page that is open by now. */
function run(name: string): void {
  const element = elementsByName().get(name);
  element?.focus();
  element?.click();
}

/** Actions of the page, also once it has been loaded or has read its data. */
export function usePageActions(): PageAction[] {
  const [names, setNames] = useState(namesNow);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = () => {
      timer = undefined;
      const now = namesNow();
      setNames((before) => (before.join('\n') === now.join('\n') ? before : now));
    };
    const observer = new MutationObserver(() => {
      timer ??= setTimeout(read, pauseMilliseconds);
    });
    read();
    observer.observe(document.querySelector('main') ?? document.body, {
      ...{ childList: true, subtree: true },
      attributeFilter: attributes,
    });
    return () => {
      observer.disconnect();
      clearTimeout(timer);
    };
  }, []);
  return names.map((label) => ({ label, run: () => run(label) }));
}
