/** Form message about a refusal that belongs to none of its fields. Entered text stays. */
import { Alert } from '@mantine/core';
import { errorText } from '../api/errors.ts';
import { intoView } from './problems.ts';

export function FormAlert({ error, mb }: { readonly error: unknown; readonly mb?: 'md' }) {
  if (error === undefined || error === null) return null;
  const { title, text, remedy, requestId } = errorText(error);
  return (
    <Alert
      ref={intoView}
      color="red"
      role="alert"
      title={title}
      {...(mb ? { mb } : {})}
      styles={{ message: { overflowWrap: 'anywhere' } }}
    >
      {text} {remedy}
      {requestId !== undefined && (
        <>
          {' '}
          Request <code>{requestId}</code>.
        </>
      )}
    </Alert>
  );
}
