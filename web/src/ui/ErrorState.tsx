/** Placeholder for content that could not be read. */
import { Button } from '@mantine/core';
import { errorText } from '../api/errors.ts';
import classes from './ui.module.css';

export function ErrorState({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  const { title, text, remedy, requestId } = errorText(error);
  return (
    <section className={classes.error} role="alert">
      <h2>{title}</h2>
      <p>{text}</p>
      {remedy !== undefined && <p>{remedy}</p>}
      {requestId !== undefined && (
        <p className={classes.faint}>
          Request <code>{requestId}</code>
        </p>
      )}
      {retry !== undefined && (
        <Button variant="default" onClick={retry}>
          Try again
        </Button>
      )}
    </section>
  );
}
