/** A form that is a page: fields, and below them its buttons. */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { ActionButton } from '../ui/ActionButton.tsx';
import { FormAlert } from './FormAlert.tsx';
import { FormFoot } from './Section.tsx';

export interface PageFormProps {
  readonly verb: string;
  readonly isBusy: boolean;
  readonly whyNot: string | undefined;
  /** A refusal that names no field. */
  readonly failure: unknown;
  /** Above the fields, such as what another user has changed. */
  readonly notice?: ReactNode;
  readonly onSubmit: () => void;
  readonly onCancel: () => void;
  readonly children: ReactNode;
}

export function PageForm(props: PageFormProps) {
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        props.onSubmit();
      }}
    >
      {props.notice}
      <FormAlert mb="md" error={props.failure} />
      {props.children}
      <FormFoot>
        <ActionButton type="submit" whyNot={props.whyNot} loading={props.isBusy}>
          {props.verb}
        </ActionButton>
        <Button variant="default" onClick={props.onCancel}>
          Cancel
        </Button>
      </FormFoot>
    </form>
  );
}
