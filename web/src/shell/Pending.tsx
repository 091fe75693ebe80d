/** What stands where a page is on its way for longer than a moment. */
import classes from './Shell.module.css';

export function Pending() {
  return (
    <p role="status" className={classes.pending}>
      Loading …
    </p>
  );
}
