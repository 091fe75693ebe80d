/** Moving, archiving, destroying and deleting, each with what it means. */
import { useState } from 'react';
import { Section, Wide } from '../../../forms/Section.tsx';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import { MoveDialog } from '../actions/MoveDialog.tsx';
import { ArchiveDialog, DeleteDialog, DestroyDialog } from '../actions/SmallDialogs.tsx';
import classes from '../facts/environment.module.css';
import { whyNotArchive, whyNotDelete, whyNotMove, whyNotStart } from '../facts/facts.ts';
import type { EnvironmentProps } from '../facts/reads.ts';

type EndOfLifeAction = 'move' | 'archive' | 'destroy' | 'delete';

export function EndOfLife(props: EnvironmentProps) {
  const { environment, rights } = props;
  const [dialog, setDialog] = useState<EndOfLifeAction>();
  const close = () => setDialog(undefined);
  const { isArchived } = environment;
  const acts: readonly (readonly [
    EndOfLifeAction,
    label: string,
    text: string,
    whyNot: string | undefined,
  ])[] = [
    ['move', 'Move …', 'To another project, with its state and history.', whyNotMove(environment, rights)],
    [
      'archive',
      isArchived ? 'Restore …' : 'Archive …',
      isArchived ? 'It accepts deployments again.' : 'It is no longer active. Nothing is destroyed.',
      whyNotArchive(environment, rights),
    ],
    ['destroy', 'Destroy …', 'Everything that it created.', whyNotStart(environment, 'destroy', rights)],
    ['delete', 'Delete …', 'With its history, if it never had resources.', whyNotDelete(environment, rights)],
  ];
  return (
    <Section title="End of life">
      <Wide>
        <ul className={classes.acts}>
          {acts.map(([act, label, text, whyNot]) => (
            <li key={act}>
              <span>{text}</span>
              <ActionButton
                size="xs"
                variant="default"
                {...(act === 'destroy' || act === 'delete' ? { c: 'red' } : {})}
                whyNot={whyNot}
                onClick={() => setDialog(act)}
              >
                {label}
              </ActionButton>
            </li>
          ))}
        </ul>
      </Wide>
      {dialog === 'move' && <MoveDialog {...props} onClose={close} />}
      <ArchiveDialog {...props} isOpen={dialog === 'archive'} onClose={close} />
      <DestroyDialog {...props} isOpen={dialog === 'destroy'} onClose={close} />
      <DeleteDialog {...props} isOpen={dialog === 'delete'} onClose={close} />
    </Section>
  );
}
