/** A button that deletes or ends something: it asks first, and shows in place why the service refuses. */
import { type ReactNode, useState } from 'react';
import type { OperationName } from '#contract/operations.ts';
import { showDone } from '../api/messages.ts';
import { type QueryInput, useChange } from '../api/queries.ts';
import { FormAlert } from '../forms/FormAlert.tsx';
import { ActionButton } from '../ui/ActionButton.tsx';
import { Confirm } from '../ui/Confirm.tsx';

export interface RemovalProps<Name extends OperationName> {
  readonly operation: Name;
  readonly input: QueryInput<Name>;
  readonly refreshes: readonly OperationName[];
  /** On the button, such as "Delete key". */
  readonly label: string;
  /** The title of the question. */
  readonly question: string;
  /** On the button that does it; default: the first word of the label. */
  readonly verb?: string;
  /** Message on success. */
  readonly done: string;
  readonly whyNot?: string | undefined;
  /** Has to be typed. */
  readonly typed?: string;
  readonly size?: string;
  readonly onDone?: () => void;
  /** Meaning, in a sentence or two. */
  readonly children: ReactNode;
}

export function Removal<Name extends OperationName>(props: RemovalProps<Name>) {
  const { operation, input, refreshes, label, question, done, whyNot, typed, size = 'xs', onDone } = props;
  const [isAsking, setAsking] = useState(false);
  const change = useChange(operation, {
    refreshes,
    onSuccess: () => {
      setAsking(false);
      showDone(done);
      onDone?.();
    },
    onError: () => true,
  });
  const close = () => {
    setAsking(false);
    change.reset();
  };
  return (
    <>
      <ActionButton {...{ size, whyNot }} variant="default" onClick={() => setAsking(true)}>
        {label}
      </ActionButton>
      <Confirm
        isOpen={isAsking}
        title={question}
        verb={props.verb ?? label.split(' ')[0]!}
        {...(typed === undefined ? {} : { typed })}
        isBusy={change.isPending}
        onConfirm={() => change.mutate(input)}
        onClose={close}
      >
        <FormAlert mb="md" error={change.error} />
        {props.children}
      </Confirm>
    </>
  );
}
