/** Times in the reader's zone: how long ago or until, with the exact value on hover. */
import { useSyncExternalStore } from 'react';
import { coarseSpanText, spanText } from './spans.ts';

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** One clock for all times of the page; it pauses while none is shown. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) now = Date.now();
  timer ??= setInterval(() => {
    if (document.hidden) return;
    now = Date.now();
    for (const each of listeners) each();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time now in milliseconds since 1970, anew with every second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/** The next full hour, in hours since 1970: for requests that are repeated every hour. */
export function useNextHour(): number {
  return useSyncExternalStore(subscribe, () => Math.ceil(now / 3_600_000));
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

function agoText(milliseconds: number): string {
  const span = Math.abs(milliseconds);
  if (span < 1000) return 'just now';
  const text = coarseSpanText(span);
  return milliseconds < 0 ? `${text} ago` : `in ${text}`;
}

/** Distance in time from now. @param at ISO text */
export function TimeAgo({ at }: { readonly at: string }) {
  const time = Date.parse(at);
  const text = useSyncExternalStore(subscribe, () => agoText(time - now));
  return (
    <time dateTime={at} title={exact.format(time)} className="tabular">
      {text}
    </time>
  );
}

/** Duration, so far or in total. @param until absent: it is still running */
export function Duration({ since, until }: { readonly since: string; readonly until?: string | undefined }) {
  const now = useNow();
  const end = until === undefined ? now : Date.parse(until);
  return <span className="tabular">{spanText(Math.max(0, end - Date.parse(since)))}</span>;
}
