/** The end of a log, kept in view. */
import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useRef } from 'react';
import type { LogLayout } from './layout.ts';

const endPixels = 24;

export interface FollowProps {
  readonly layout: LogLayout;
  readonly isFollowing: boolean;
  /** Says whether the end of the log is in view because the person wants it there. */
  readonly onFollow: (isFollowing: boolean) => void;
  /** Requests another part of a very long log. */
  readonly onPart: (step: string, start: number) => void;
}

/**
 * Fits the log into the window below what is above it, if its end is followed and below the window. It keeps that size
 * afterwards: a log that grows when the person scrolls up would be at its end again. In a window that is too low, the
 * page scrolls.
 */
function useFit(isFollowing: boolean, scroller: RefObject<HTMLDivElement | null>): void {
  useLayoutEffect(() => {
    const element = scroller.current;
    const page = element?.closest('main');
    if (!isFollowing || !element || !page) return undefined;
    const isBelow = () => element.getBoundingClientRect().bottom > window.innerHeight;
    const fit = () => {
      if (element.dataset.fitted === undefined && !isBelow()) return;
      element.dataset.fitted = 'true';
      const top = element.getBoundingClientRect().top + window.scrollY;
      element.style.setProperty('--log-top', `${Math.ceil(top)}px`);
      element.scrollTop = element.scrollHeight;
      if (isBelow()) element.scrollIntoView({ block: 'end' });
    };
    fit();
    const observer = new ResizeObserver(fit);
    observer.observe(page);
    window.addEventListener('resize', fit);
    return () => {
      observer.disconnect();
      window.removeEventListener('resize', fit);
    };
  }, [isFollowing, scroller]);
}

/** Keeps the end in view while it is followed, and ends following when the person scrolls up. */
export function useFollow(
  { layout, isFollowing, onFollow, onPart }: FollowProps,
  scroller: RefObject<HTMLDivElement | null>,
  size: number,
) {
  const last = useRef(0);
  useFit(isFollowing, scroller);
  const askForPart = useEffectEvent(onPart);
  useEffect(() => {
    const end = layout.steps.findLast(({ lines }) => lines > 0);
    const start = isFollowing && end ? layout.startFor(end.name, end.lines - 1) : undefined;
    if (end && start !== undefined) askForPart(end.name, start);
  }, [isFollowing, layout]);
  useLayoutEffect(() => {
    if (isFollowing && scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight;
  }, [isFollowing, layout, scroller, size]);
  return () => {
    const { scrollTop, scrollHeight, clientHeight } = scroller.current!;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < endPixels;
    if (isAtEnd) onFollow(true);
    else if (scrollTop < last.current - 2) onFollow(false);
    last.current = scrollTop;
  };
}
