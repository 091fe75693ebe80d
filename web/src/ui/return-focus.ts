/** Returns the focus after something opened above the page was closed. */
import { useEffect, useState } from 'react';

/** Leads back when the component goes, unless the focus has been moved elsewhere. */
export function useReturnFocus(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      requestAnimationFrame(() => {
        if (document.activeElement === document.body && before instanceof HTMLElement)
          before.focus({ preventScroll: true });
      });
    },
    [before],
  );
}
