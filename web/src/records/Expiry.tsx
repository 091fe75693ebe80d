/** Until when a key is accepted. */
import { Status } from '../design/status.tsx';
import { TimeAgo, useNow } from '../ui/Time.tsx';

/** @param props.at ISO text; absent: it does not end */
export function Expiry({ at }: { readonly at: string | null | undefined }) {
  const now = useNow();
  if (at === undefined || at === null || at === '') return 'Never';
  if (Date.parse(at) <= now) return <Status look={{ word: 'Expired', tone: 'fail', shape: 'clock' }} />;
  return <TimeAgo at={at} />;
}
