/** Placeholder for a page that takes longer than a moment to load. */
import classes from './Shell.module.css';

export function Pending() {
  return (
    <p role="status" className={classes.pending}>
      Loading …
    </p>
  );
}
