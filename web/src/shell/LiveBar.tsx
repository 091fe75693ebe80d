/** Says while the page hears of no changes, and since when. */
import { useLiveState, useLostSince } from '../api/live.ts';
import { Duration } from '../ui/Time.tsx';
import classes from './Shell.module.css';

export function LiveBar() {
  const state = useLiveState();
  const since = useLostSince();
  if (state !== 'lost' || since === undefined) return <div role="status" />;
  return (
    <div role="status" className={classes.lost}>
      Connection lost for <Duration since={new Date(since).toISOString()} />: the page shows what it had, and
      continues by itself.
    </div>
  );
}
