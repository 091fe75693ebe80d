/** Place of a long list in the page, for lists of which only the rows in sight are there. */
import { type RefObject, useLayoutEffect, useState } from 'react';

/** Distance of the list from the top of the page, which the content above it can change at any time, in pixels. */
export function useListTop(list: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = () => setTop(Math.round(list.current!.getBoundingClientRect().top + window.scrollY));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [list]);
  return top;
}
