/** Notice in a form that another user has changed the same thing, with the choices. */
import { Alert, Button } from '@mantine/core';
import { intoView } from './problems.ts';

export function Overtaken({ what, onReset }: { readonly what: string; readonly onReset: () => void }) {
  return (
    <Alert
      ref={intoView}
      color="yellow"
      role="alert"
      mb="md"
      title={`Someone else has changed ${what} in the meantime`}
    >
      What you typed is kept. Save again to replace their version, or take theirs and lose yours.
      <br />
      <Button size="xs" variant="default" mt="xs" onClick={onReset}>
        Take theirs
      </Button>
    </Alert>
  );
}
