/** Reason why a person was not signed in. */
import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';

export function Refused({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Alert color="red" role="alert" title={title} mb="md" style={{ overflowWrap: 'anywhere' }}>
      {children}
    </Alert>
  );
}
