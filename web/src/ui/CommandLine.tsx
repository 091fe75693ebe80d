/** A line for a terminal, with a button that copies it. */
import { Button, CopyButton } from '@mantine/core';
import classes from './ui.module.css';

export function CommandLine({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <figure className={classes.command}>
      <figcaption>{label}</figcaption>
      <code tabIndex={0}>{text}</code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button size="compact-xs" variant="subtle" onClick={copy} aria-label={`Copy: ${label}`}>
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </figure>
  );
}
